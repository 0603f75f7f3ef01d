"""numpy of Gasell as a namespace of Python's: gasell.np.linalg.norm(x). Functions record; results are gasell.Array."""

from __future__ import annotations

from . import _gasell, dtypes
from .array import function_named
from .session import default_session


class _Namespace:
    def __init__(self, prefix):
        self._prefix = prefix

    def __getattr__(self, name):
        return _member(self._prefix + name)

    def __dir__(self):
        return _names(self._prefix.rstrip("."))


def _names(path):
    return _gasell.operate(default_session(), f"lambda: dir(np{'.' + path if path else ''})")


def _member(name):
    if name.rpartition(".")[2].startswith("__"):
        raise AttributeError(name)
    owner, _, last = name.rpartition(".")
    kind = _gasell.operate(default_session(), f"lambda name: type(getattr(np{'.' + owner if owner else ''}, name)).__name__", last)
    if kind == "module":
        return _Namespace(name + ".")
    if kind == "type" and name in dtypes.NAMES:
        return dtypes.scalar_type(name)
    if kind in ("int", "float", "NoneType", "str", "bool"):
        return _gasell.operate(default_session(), f"lambda: np.{name}")
    return function_named(name)


def __getattr__(name):
    return _member(name)


def __dir__():
    return _names("")
