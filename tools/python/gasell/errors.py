"""What the library raises: classes that are both Error and the Python exception of the same name."""

from __future__ import annotations

import builtins
import json
import sys


class Error(Exception):
    """Any error of Gasell's. Those with a name of Python's derive from that exception, too.

    Attributes: kind (Python's exception name), message, source (the name of the text), line, column (from 1; 0: no place), end_line,
    end_column, hint, calls (the calls that led there: dicts with source, line, column, text), rendered (all of it, with a caret), status.
    """

    kind = "Error"
    status = 1

    def __init__(self, message="", *, details=None, rendered=""):
        super().__init__(message)
        details = details or {}
        self.message = message
        self.hint = details.get("hint", "")
        self.source = details.get("source", "")
        self.line = details.get("line", 0)
        self.column = details.get("column", 0)
        self.end_line = details.get("end_line", 0)
        self.end_column = details.get("end_column", 0)
        self.calls = details.get("calls", [])
        self.rendered = rendered
        if self.line or self.hint:
            self.__notes__ = [rendered.rstrip()]

    def __str__(self):
        return self.message

    def __reduce__(self):
        return _restored, (self.kind, self.status, self.message, {k: v for k, v in self.__dict__.items() if k != "__notes__"})


class LimitationError(Error, NotImplementedError):
    """Known, and not in this version."""


class InternalError(Error, RuntimeError):
    """A bug of Gasell's."""


class InvalidArgument(Error, ValueError):
    """The call of the library was wrong, not the script."""


_classes: dict[str, type[Error]] = {"InternalError": InternalError, "InvalidArgument": InvalidArgument}


# What libraries' exceptions are where the library is not loaded.
_BASES = {"AxisError": IndexError, "LinAlgError": ValueError, "UFuncTypeError": TypeError, "MergeError": ValueError, "ParserError": ValueError,
          "EmptyDataError": ValueError, "OutOfBoundsDatetime": ValueError, "OutOfBoundsTimedelta": ValueError, "IntCastingNaNError": ValueError,
          "JSONDecodeError": ValueError, "UndefinedVariableError": NameError, "InvalidIndexError": Exception}


def _of_library(kind):
    numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
    if numpy is not None and kind == "AxisError":
        return numpy.exceptions.AxisError
    if numpy is not None and kind == "LinAlgError":
        return numpy.linalg.LinAlgError
    return getattr(getattr(pandas, "errors", None), kind, None) or _BASES.get(kind)


def error_class(kind: str) -> type[Error]:
    """The class for one of Python's exception names, which derives from Error and from that exception."""
    known = _classes.get(kind)
    if known is None:
        base = getattr(builtins, kind, None) or _of_library(kind)
        is_exception = isinstance(base, type) and issubclass(base, Exception)
        known = type(kind, (Error, base) if is_exception else (Error,), {"kind": kind, "__module__": __name__})
        _classes[kind] = known
    return known


def __getattr__(name: str):
    if name.startswith("_") or not name[:1].isupper():
        raise AttributeError(name)
    base = getattr(builtins, name, None)
    if not (isinstance(base, type) and issubclass(base, Exception)):
        raise AttributeError(f"module 'gasell.errors' has no attribute '{name}'")
    return error_class(name)


def _made(status: int, kind: str, details: str, rendered: str) -> Error:
    known = json.loads(details)
    error = error_class(kind)(known["message"], details=known, rendered=rendered)
    error.kind = kind
    error.status = status
    return error


def _restored(kind, status, message, attributes):
    error = error_class(kind)(message)
    error.__dict__.update(attributes)
    error.kind, error.status = kind, status
    return error
