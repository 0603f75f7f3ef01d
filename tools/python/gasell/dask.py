"""Gasell's arrays as the chunks of dask.array, and its functions over those of dask.dataframe: importing this module makes them known to Dask.

    import dask.array as da, gasell, gasell.dask
    x = gasell.dask.from_array(numpy_array, chunks=(1000, 1000))     # chunks are gasell.Array
    (x + x.T).mean(axis=0).compute()                                 # Dask's algorithm, Gasell's code
    da.map_blocks(gasell_function, x)                                # of a gasell.jit function: it is pickled to workers

Sizes, tokens, copies between workers, concatenation and tensordot are registered; all else goes through NEP 13 and 18.
"""

from __future__ import annotations

import numpy
from dask.array.backends import einsum_lookup
from dask.array.core import concatenate_lookup, tensordot_lookup
from dask.sizeof import sizeof
from dask.tokenize import normalize_token

from .array import Array, asarray
from .frame import DataFrame, Series
from .function import JitFunction


@concatenate_lookup.register(Array)
def _concatenate(arrays, axis=0):
    return numpy.concatenate(arrays, axis=axis)


@tensordot_lookup.register(Array)
def _tensordot(a, b, axes=2):
    return numpy.tensordot(a, b, axes=axes)


@einsum_lookup.register(Array)
def _einsum(*operands, **kwargs):
    kwargs = {name: value for name, value in kwargs.items() if value is not None and name not in ("casting", "order")}
    return numpy.einsum(*operands, **kwargs)


@sizeof.register(Array)
def _sizeof_array(array):
    return array.nbytes


@sizeof.register(DataFrame)
@sizeof.register(Series)
def _sizeof_table(table):
    return int(table.memory_usage(deep=True) if isinstance(table, Series) else table.memory_usage(deep=True).sum())


@normalize_token.register(Array)
def _token_of_array(array):
    return "gasell.Array", normalize_token(numpy.asarray(array))


@normalize_token.register(DataFrame)
@normalize_token.register(Series)
def _token_of_table(table):
    return type(table).__name__, normalize_token(table.to_pandas())


@normalize_token.register(JitFunction)
def _token_of_function(function):
    recipe = function.recipe
    return "gasell.function", recipe.name, recipe.text, normalize_token(sorted(recipe.names.items(), key=lambda item: item[0]))


def _register_with_distributed():
    try:
        from distributed.protocol import dask_deserialize, dask_serialize
    except ImportError:
        return

    @dask_serialize.register(Array)
    def _serialise(array):
        # The frame is the array's memory: nothing is copied on this side.
        values = numpy.ascontiguousarray(array)
        return {"dtype": values.dtype.str, "shape": array.shape}, [memoryview(values).cast("B") if values.size else b""]

    @dask_deserialize.register(Array)
    def _deserialise(header, frames):
        return asarray(numpy.frombuffer(frames[0], dtype=header["dtype"]).reshape(header["shape"]))


_register_with_distributed()


def from_array(array, chunks="auto", **kwargs):
    """dask.array.from_array of an array of NumPy's or Gasell's, with gasell.Array as chunks."""
    import dask.array as da

    made = array if isinstance(array, Array) else asarray(array)
    return da.from_array(made, chunks=chunks, asarray=False, meta=asarray(numpy.empty((0,) * made.ndim, dtype=made.dtype)), **kwargs)


class _OnPartitions:
    """A function over pandas' partitions whose results are pandas', too."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *args, **kwargs):
        result = self.function(*args, **kwargs)
        return result.to_pandas() if isinstance(result, (DataFrame, Series)) else result


@normalize_token.register(_OnPartitions)
def _token_of_partitions(on_partitions):
    return "gasell.dask.map_partitions", normalize_token(on_partitions.function)


def map_partitions(function, frame, *args, **kwargs):
    """dask.dataframe.map_partitions of a function of gasell.jit or gasell.function: a partition is lent to it, and its result becomes pandas'."""
    return frame.map_partitions(_OnPartitions(function), *args, **kwargs)


def compute(text, client=None, /, **names):
    """Evaluates a text over collections of Dask, in tasks: on the cluster of `client` (of distributed), else in the scheduler that is set.

    Arrays are cut along their first axis where the text lets them: in operators and elementwise functions, reductions of other axes, and sum,
    mean, max, min, any, all, whose partial results come together with the bits of one process. What is not of that kind runs here, over what it
    needs of them.
    """
    from .cuts import Program

    return Program(client, names).run(text)
