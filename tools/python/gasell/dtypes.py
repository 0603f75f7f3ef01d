"""Element types: NumPy's dtypes where NumPy is there, else a stand-in with their names."""

from __future__ import annotations

import functools

NAMES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128")
TYPE_STRINGS = {"bool": "|b1", "int8": "|i1", "uint8": "|u1", "int16": "<i2", "int32": "<i4", "int64": "<i8", "uint16": "<u2", "uint32": "<u4",
                "uint64": "<u8", "float32": "<f4", "float64": "<f8", "complex64": "<c8", "complex128": "<c16"}
NAMES_OF_TYPE_STRINGS = {text: name for name, text in TYPE_STRINGS.items()}
_OF_PYTHON = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


def contiguous_strides(shape):
    """Of C order, in elements."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


@functools.cache
def numpy():
    """The module numpy, or None where it is not installed."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy


class DType:
    """An element type without NumPy: `name`, `kind`, `itemsize`; equal to its name."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    kind = property(lambda self: TYPE_STRINGS[self.name][1], doc="'b', 'i', 'u', 'f' or 'c'.")
    itemsize = property(lambda self: int(TYPE_STRINGS[self.name][2:]), doc="Bytes of an element.")
    str = property(lambda self: TYPE_STRINGS[self.name], doc="As in __array_interface__.")

    def __eq__(self, other):
        return self.name == getattr(other, "name", other)

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f"dtype('{self.name}')"

    def __str__(self):
        return self.name


@functools.cache
def dtype(name: str):
    """The dtype of a name, "float64"."""
    np = numpy()
    if np is not None:
        return np.dtype(name)
    if name not in NAMES:
        raise TypeError(f"data type '{name}' not understood")
    return DType(name)


def scalar_type(name: str):
    """What stands for the dtype in calls: numpy.float64, or the dtype itself without NumPy."""
    np = numpy()
    return dtype(name) if np is None else np.dtype(name).type


def name_of(kind) -> str:
    """The name of a dtype, of a type like float or numpy.float32, or of a name."""
    if isinstance(kind, str):
        return dtype(kind).name
    if isinstance(kind, DType):
        return kind.name
    if isinstance(kind, type) and kind in _OF_PYTHON:
        return _OF_PYTHON[kind]
    np = numpy()
    if np is None:
        raise TypeError(f"{kind!r} is no dtype")
    return np.dtype(kind).name
