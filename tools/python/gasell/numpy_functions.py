"""NumPy's functions on Gasell's arrays: NEP 13 (ufuncs) and NEP 18 (all others)."""

from __future__ import annotations

import functools

from . import _gasell

_operate = _gasell.operate


@functools.cache
def _path(function):
    """Where Gasell's numpy would have a function of NumPy's: "linalg.norm"."""
    module = getattr(function, "__module__", None) or "numpy"
    name = getattr(function, "__name__", "")
    for public in ("linalg", "fft"):
        if module.startswith(f"numpy.{public}") or module == f"numpy.{public}._{public}":
            return f"{public}.{name}"
    return name


_known: dict[str, bool] = {}


def _exists(session, path):
    """Whether Gasell's numpy has it."""
    known = _known.get(path)
    if known is None:
        known = _known[path] = _looked_up(session, path)
    return known


def _looked_up(session, path):
    owner, _, name = path.rpartition(".")
    return _operate(session, f"lambda name: hasattr(np{'.' + owner if owner else ''}, name)", name)


def _result(out, result):
    return result if out is None else out


def call_ufunc(array, ufunc, method, inputs, kwargs):
    """array.__array_ufunc__: calls, reduce, accumulate, outer, reduceat, at."""
    session = array.session
    out = kwargs.pop("out", None)
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if out is not None:
        kwargs["out"] = out
    name = ufunc.__name__
    if not _exists(session, name):
        return NotImplemented
    path = f"numpy:{name}" if method == "__call__" else f"numpy:{name}.{method}"
    return _result(out, _operate(session, path, *inputs, **kwargs))


def call_function(array, function, args, kwargs):
    """array.__array_function__: the function of the same name of Gasell's numpy; TypeError where there is none."""
    path = _path(function)
    if path in _LIKE and _numpy().dtype(kwargs.get("dtype") or float).names is not None:
        return getattr(_numpy(), path)(_numpy().asarray(array), *args[1:], **kwargs)  # records are NumPy's
    special = _SPECIAL.get(path)
    if special is not None:
        return special(*args, **kwargs)
    if not _exists(array.session, path):
        return NotImplemented
    return _result(kwargs.get("out"), _operate(array.session, f"numpy:{path}", *args, **kwargs))


_LIKE = ("empty_like", "zeros_like")
# What asks about an array, and is answered without the language.
_SPECIAL = {
    "shape": lambda a: a.shape,
    "ndim": lambda a: a.ndim,
    "size": lambda a, axis=None: a.size if axis is None else a.shape[axis],
    "result_type": lambda *args: _numpy_result_type(*args),
    "can_cast": lambda from_, to, casting="safe": _numpy().can_cast(getattr(from_, "dtype", from_), getattr(to, "dtype", to), casting),
    "iscomplexobj": lambda x: x.dtype.kind == "c",
    "isrealobj": lambda x: x.dtype.kind != "c",
    "array_repr": lambda arr, *args, **kwargs: repr(arr),
    "array_str": lambda a, *args, **kwargs: str(a),
}


def _numpy():
    import numpy

    return numpy


def _numpy_result_type(*args):
    return _numpy().result_type(*(getattr(each, "dtype", each) for each in args))
