from typing import Any

pi: float
e: float
inf: float
nan: float
newaxis: None

def __getattr__(name: str) -> Any: ...
