"""Arrays that a text describes by constants alone: da.ones((10, 3)), da.random.default_rng(5).normal(size=100)."""

from __future__ import annotations

import ast
import dataclasses

import numpy

TYPES = frozenset(("bool", "int", "float", "complex"))
CREATED = frozenset(("ones", "zeros", "full", "arange", "linspace", "from_zarr"))
GENERATORS = frozenset(("default_rng", "RandomState"))
DRAWN = frozenset("""beta binomial chisquare exponential gamma geometric gumbel integers laplace logistic lognormal normal pareto poisson power rand
randint randn random random_sample rayleigh standard_cauchy standard_exponential standard_gamma standard_normal standard_t triangular uniform vonmises wald
weibull""".split())


@dataclasses.dataclass
class Written:
    """An array that the text itself describes: each task makes the rows that it needs, since a slice computes no others."""

    text: str
    shape: tuple[int, ...]
    dtype: numpy.dtype
    chunks: tuple[tuple[int, ...], ...]  # how many rows a task makes, as of an array of Dask's


def is_written(node):
    """Whether an expression is one: a call of a function of da that makes an array, or of a generator's with a seed."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not _are_constant(node):
        return False
    made_by = node.func.value
    if isinstance(made_by, ast.Call):
        return node.func.attr in DRAWN and _is_seeded(made_by)
    return node.func.attr in CREATED and _is_dask_array(made_by)


def _is_dask_array(node):
    return isinstance(node, ast.Name) and node.id == "da"


def _is_seeded(call):
    """da.random.default_rng(5), da.random.RandomState(5)"""
    called = call.func
    if len(call.args) != 1 or call.keywords or not isinstance(call.args[0], ast.Constant) or type(call.args[0].value) is not int:
        return False
    return (isinstance(called, ast.Attribute) and called.attr in GENERATORS and isinstance(called.value, ast.Attribute)
            and called.value.attr == "random" and _is_dask_array(called.value.value))


def _are_constant(call):
    parts = (ast.Constant, ast.BinOp, ast.operator, ast.UnaryOp, ast.unaryop, ast.Tuple, ast.List, ast.Load)
    return all(isinstance(each, ast.Name) and each.id in TYPES or all(isinstance(part, parts) for part in ast.walk(each))
               for each in (*call.args, *(keyword.value for keyword in call.keywords)))
