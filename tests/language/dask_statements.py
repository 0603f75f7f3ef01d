#!/usr/bin/env python3
"""Runs the `>>>` statements of Dask's own docstrings under Dask and under Gasell, and compares what they give.

Taken are the docstrings of public names of dask.array, dask.dataframe, dask.bag and dask.datasets, and of their public classes; not those that Dask copies
from NumPy or pandas. A statement counts where it runs under Dask with the names that the docstrings take for granted (np, pd, da, dd, db, dask …).
What an expression gives, and what is assigned to a name where it is an array, a frame or a bag that is not large, is computed and then compared by its repr,
numbers with a relative tolerance: Dask shows what waits, Gasell values. Of a docstring that draws random numbers, arrays, frames, lists and floats are compared by
their types, shapes and names of columns.

Of each section it prints how many statements are the same, how many of these show something, and by name those that differ or are refused. Exit status 0 when
the shares are reached.
"""

import argparse
import sys

import doc_statements

WANTED = {"array": 0.90, "dataframe": 0.85, "bag": 0.85, "tasks": 0.0}
PRELUDE = """import operator
import os
import numpy as np
import pandas as pd
import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
from dask import delayed
dask.config.set({"dataframe.convert-string": False})
_is_random = False
def _show(value):
    value = dask.compute(value)[0]
    if not _is_random:
        if value is not None:
            print(repr(value))
    elif isinstance(value, np.ndarray):
        print("array", value.shape, value.dtype)
    elif isinstance(value, pd.DataFrame):
        print("frame", list(value.columns), [str(t) for t in value.dtypes], len(value), value.index.name)
    elif isinstance(value, pd.Series):
        print("Series", value.name, value.dtype, len(value), value.index.name)
    elif isinstance(value, list):
        print("list of", {type(v).__name__ for v in value})
    elif isinstance(value, (float, np.generic)):
        print(type(value).__name__)
    elif value is not None:
        print(repr(value))
def _show_made(value):
    if isinstance(value, (np.ndarray, np.generic, getattr(da, "Array", np.ndarray))):
        small = value.size <= 10000
    elif isinstance(value, (dd.DataFrame, dd.Series, dd.Scalar)):
        small = value.npartitions <= 40
    else:
        small = isinstance(value, db.Bag)
    if small:
        _show(value)
"""
# Run by the peer: see doc_statements.py.
PEER = r'''
import inspect, sys, warnings
warnings.simplefilter("ignore")
prelude = sys.stdin.read()
scope = {}
exec(prelude, scope)
dask, da, dd, db = scope["dask"], scope["da"], scope["dd"], scope["db"]
import dask.datasets
import dask.bag.core, dask.bag.random, dask.array.fft, dask.array.ma, dask.array.overlap, dask.array.linalg, dask.array.lib.stride_tricks
CLASSES = {"tasks": [type(dask.delayed(1))], "array": [da.Array, da.random.Generator, da.random.RandomState], "bag": [db.Bag, db.core.Item],
           "dataframe": [dd.DataFrame, dd.Series, dd.Index, dd.dask_expr._collection.FrameBase, dd.dask_expr._groupby.GroupBy]}
MODULES = {"array": [(da, "da"), (da.linalg, "da.linalg"), (da.random, "da.random"), (da.overlap, "da.overlap"), (da.fft, "da.fft"), (da.ma, "da.ma"), (da.lib.stride_tricks, "da.lib.stride_tricks")],
           "dataframe": [(dd, "dd"), (dask.datasets, "dask.datasets")], "bag": [(db, "db"), (db.random, "db.random")], "tasks": [(dask, "dask")]}

ROOTS = (dask, da, dd, db)

def documented(thing):
    thing = getattr(thing, "__func__", thing)
    doc = thing.fget.__doc__ if isinstance(thing, property) and thing.fget else getattr(thing, "__doc__", None)
    copied = isinstance(doc, str) and ("This docstring was copied from" in doc or "docstring follows below" in doc)
    return doc if isinstance(doc, str) and ">>>" in doc and not copied else None

def public():
    seen = set()
    for section in CLASSES:
        for module, title in MODULES[section]:
            for name in sorted(vars(module)):
                thing = getattr(module, name, None)
                home = str(getattr(thing, "__module__", ""))
                if name.startswith("_") or inspect.ismodule(thing) or not home.startswith("dask" if module in ROOTS else module.__name__):
                    continue
                doc = documented(thing)
                if doc and doc not in seen:
                    seen.add(doc)
                    yield section, f"{title}.{name}", doc
        for cls in CLASSES[section]:
            for name in sorted(dir(cls)):
                if name.startswith("_"):
                    continue
                doc = documented(inspect.getattr_static(cls, name))
                if doc and doc not in seen:
                    seen.add(doc)
                    yield section, f"{cls.__name__}.{name}", doc

def prepare():
    dask.config.set(scheduler="sync")
'''


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    doc_statements.add_arguments(parser, "dask, NumPy 2 and pandas 2")
    return doc_statements.compare(parser.parse_args(), PEER, PRELUDE, WANTED)


if __name__ == "__main__":
    sys.exit(main())
