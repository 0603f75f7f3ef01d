#!/usr/bin/env python3
"""Runs the `>>>` statements of pandas' own docstrings under pandas and under Gasell, and compares what they give.

Taken are the docstrings of the public methods and attributes of pandas' classes, and of its functions. A statement counts where it runs under pandas with the names
that the docstrings take for granted (pd, np). What an expression gives is compared by its text, and so is what is assigned to a name where it is a Series, a frame or an index.
Of a docstring that draws random numbers types and shapes are compared.

Of each section it prints how many statements are the same, how many of these show something, and by name those that differ or are refused. Exit status 0 when
the shares are reached.
"""

import argparse
import sys

import doc_statements

WANTED = {"MultiIndex": 0.93, "DataFrame": 0.9, "Series": 0.92, "Index": 0.95, "groupby": 0.91, "functions": 0.75}
PRELUDE = """import numpy as np
import pandas as pd
_is_random = False
def _show(value):
    if _is_random:
        print(type(value).__name__, getattr(value, "shape", ""))
    elif value is not None:
        print(value)
def _show_made(value):
    if isinstance(value, (pd.DataFrame, pd.Series, pd.Index)):
        _show(value)
"""

# Run by the peer: see doc_statements.py.
PEER = r'''
import inspect, sys, warnings
warnings.simplefilter("ignore")
prelude = sys.stdin.read()
import pandas as pd
frame = pd.DataFrame({"a": [1], "b": [2]})
CLASSES = {"MultiIndex": [pd.MultiIndex], "DataFrame": [pd.DataFrame], "Series": [pd.Series], "Index": [pd.Index],
           "groupby": [type(frame.groupby("a")), type(frame.groupby("a")["b"])]}

def documented(thing):
    thing = getattr(thing, "__func__", thing)
    doc = thing.fget.__doc__ if isinstance(thing, property) and thing.fget else getattr(thing, "__doc__", None)
    return doc if isinstance(doc, str) and ">>>" in doc else None

def public():
    seen = set()
    for section, classes in CLASSES.items():
        for cls in classes:
            own = [(cls.__name__, cls.__doc__)]
            own += [(f"{cls.__name__}.{name}", documented(inspect.getattr_static(cls, name))) for name in sorted(dir(cls)) if not name.startswith("_")]
            for name, doc in own:
                if doc and ">>>" in doc and doc not in seen:
                    seen.add(doc)
                    yield section, name, doc
    for name in sorted(vars(pd)):
        doc = documented(getattr(pd, name)) if inspect.isfunction(getattr(pd, name)) else None
        if doc and doc not in seen:
            seen.add(doc)
            yield "functions", f"pd.{name}", doc

def prepare():
    pass
'''


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    doc_statements.add_arguments(parser, "pandas 2.3 and NumPy 2")
    return doc_statements.compare(parser.parse_args(), PEER, PRELUDE, WANTED)


if __name__ == "__main__":
    sys.exit(main())
