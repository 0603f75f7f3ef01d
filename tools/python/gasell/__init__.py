"""Gasell in Python: sessions, compiled functions, lazy arrays and frames.

    import gasell
    session = gasell.Session()
    session.evaluate("(x ** 2).mean()", x=numpy_array)

    @gasell.jit
    def total(a): ...

docs/python.md describes it.
"""

from __future__ import annotations

from . import _gasell, errors
from .array import Array, asarray
from .convert import finish as _finish
from .convert import prepare as _prepare
from .errors import Error
from .frame import DataFrame, Series, dataframe
from .function import Function, JitFunction, Object, function, jit
from .session import Engine, Session, default_engine, default_session, use

_gasell.register(Array, DataFrame, Series, Function, Object, errors._made, _prepare, _finish)

__version__ = _gasell.version()
__all__ = ["Array", "DataFrame", "Engine", "Error", "Function", "JitFunction", "Object", "Series", "Session", "array_api", "asarray", "dataframe",
           "default_engine", "default_session", "errors", "evaluate", "function", "jit", "np", "use"]


def evaluate(text, /, **names):
    """Session.evaluate in the default session."""
    return default_session().evaluate(text, **names)


def __getattr__(name):
    if name in ("array_api", "np", "dask"):
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'gasell' has no attribute '{name}'")


def load_ipython_extension(shell):
    """%load_ext gasell"""
    from .notebook import load

    load(shell)


def unload_ipython_extension(shell):
    """%unload_ext gasell"""
    from .notebook import unload

    unload(shell)
