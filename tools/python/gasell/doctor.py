"""What the package is made of, what it found, and whether it computes."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from pathlib import Path

PEERS = (("numpy", "arrays, ufuncs and functions of NumPy's"), ("pandas", "frames"), ("pyarrow", "tables without a copy"), ("polars", "frames"),
         ("dask", "gasell.dask"), ("ipython", "%load_ext gasell"), ("ipykernel", "python -m gasell.kernel"))


def _version_of(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def lines():
    """What there is to tell: a heading and its text each."""
    import gasell

    yield "gasell", f"{gasell.__version__} in {Path(__file__).parent}"
    yield "library", os.path.realpath(Path(__file__).parent / "lib" / "libgasell.so.0")
    yield "Python", f"{platform.python_version()} ({sys.executable})"
    yield "system", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    for name, use in PEERS:
        version = _version_of(name)
        yield name, version if version else f"not installed: wanted for {use}"
    session = gasell.Session()
    total = session.evaluate("np.arange(1000.0).sum()")
    yield "arrays", "works" if total == 499500.0 else f"gives {total}, not 499500.0"
    function = gasell.function("@njit\ndef twice(x):\n    return 2 * x")
    yield "functions", "works" if function(21) == 42 else "gives wrong numbers"


def run():
    """Prints it; the exit status is 1 where something does not work."""
    failed = False
    for heading, text in lines():
        print(f"{heading:<10} {text}")
        failed = failed or "gives" in text
    return int(failed)
