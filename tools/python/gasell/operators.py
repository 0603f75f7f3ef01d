"""Operators of values that are the language's own: frames, Series, and objects of classes that Python does not know."""

from __future__ import annotations

from . import _gasell

_operate = _gasell.operate
BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor")
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
UNARY = ("neg", "pos", "invert", "abs")


def _binary(text):
    def method(self, other):
        return plain(_operate(self.session, text, self, other))

    return method


def _reflected(text):
    def method(self, other):
        return plain(_operate(self.session, text, other, self))

    return method


def _unary(text):
    def method(self):
        return plain(_operate(self.session, text, self))

    return method


def plain(value):
    """A scalar of NumPy's as a Python number; others as they are."""
    from .array import Array

    return value.item() if isinstance(value, Array) and not value.ndim else value


def with_operators(kind):
    """A decorator of classes over Value: operators, items and what else has a word in the language."""
    for name in BINARY:
        word = name.rstrip("_")
        setattr(kind, f"__{word}__", _binary(f"operator:{name}"))
        setattr(kind, f"__r{word}__", _reflected(f"operator:{name}"))
    for name in COMPARISONS:
        setattr(kind, f"__{name}__", _binary(f"operator:{name}"))
    for name in UNARY:
        setattr(kind, f"__{name}__", _unary(f"operator:{name}"))
    kind.__getitem__ = _binary("operator:getitem")
    kind.__setitem__ = lambda self, key, value: _operate(self.session, "operator:setitem", self, key, value)
    kind.__contains__ = lambda self, item: bool(_operate(self.session, "operator:contains", self, item))
    kind.__len__ = lambda self: int(_operate(self.session, "lambda a: len(a)", self))
    kind.__iter__ = lambda self: iter(_operate(self.session, "lambda a: [*a]", self))
    kind.__bool__ = lambda self: bool(_operate(self.session, "lambda a: bool(a)", self))
    kind.__repr__ = lambda self: _operate(self.session, "lambda a: repr(a)", self)
    kind.__str__ = lambda self: self._text()
    kind.__dir__ = lambda self: sorted({*object.__dir__(self), *_operate(self.session, "lambda a: dir(a)", self)})
    return kind
