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
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import run

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
MARK = "\x1e"
TIMEOUT_S = 120

# Run by the peer: {section: {name: [[source, True for an expression, or the name that is assigned to, or False, output], …]}} of the statements that run.
PEER = r'''
import ast, contextlib, doctest, importlib, inspect, io, json, os, signal, sys, tempfile, warnings
warnings.simplefilter("ignore")
prelude = sys.stdin.read()
scope = {}
exec(prelude, scope)
dask, da, dd, db = scope["dask"], scope["da"], scope["dd"], scope["db"]
dask.config.set(scheduler="sync")
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

class TooLong(Exception):
    pass

def expired(*_):
    raise TooLong()

signal.signal(signal.SIGALRM, expired)
found = {}
for section, name, doc in public():
    scope = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        exec(prelude, scope)
        dask.config.set(scheduler="sync")
        kept = []
        examples = doctest.DocTestParser().get_examples(doc)
        scope["_is_random"] = any("random" in e.source or "timeseries" in e.source for e in examples)
        for example in examples:
            source = "\n".join(line.split("  # doctest:")[0].rstrip() for line in example.source.rstrip("\n").split("\n"))
            out = io.StringIO()
            try:
                try:
                    code, expression = compile(source, "<doc>", "eval"), True
                except SyntaxError:
                    code, expression = compile(source, "<doc>", "exec"), False
                signal.alarm(20)
                with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                    if expression:
                        scope["_show"](eval(code, scope))
                    else:
                        exec(code, scope)
                        tree = ast.parse(source).body
                        if len(tree) == 1 and isinstance(tree[0], ast.Assign) and isinstance(tree[0].targets[0], ast.Name):
                            expression = tree[0].targets[0].id
                            scope["_show_made"](scope[expression])
            except BaseException:
                continue
            finally:
                signal.alarm(0)
            kept.append([source, expression, out.getvalue()])
        os.chdir("/")
    found.setdefault(section, {})[name] = kept
json.dump(found, sys.stdout)
'''


def ask_peer(python):
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([python, "-I", "-c", PEER], input=PRELUDE, capture_output=True, text=True, timeout=1800, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def script_of(statements, left_out):
    """The text that runs statements one by one, and where each one's lines begin."""
    is_random = any("random" in source or "timeseries" in source for source, _, _ in statements)
    lines, starts = PRELUDE.replace("_is_random = False", f"_is_random = {is_random}").rstrip("\n").split("\n"), {}
    for number, (source, expression, _) in enumerate(statements):
        if number in left_out:
            continue
        starts[number] = len(lines)
        body = f"_show(\n{source}\n)" if expression is True else f"{source}\n_show_made({expression})" if expression else source
        lines += [f"print('\\x1e{number}')", "try:", *["    " + line for line in body.split("\n")], "except Exception as _error:", "    print('\\x1e!', type(_error).__name__, _error)"]
    lines.append("print('\\x1eend')")
    return "\n".join(lines) + "\n", starts


def run_gasell(gasell, statements):
    """(output, error) of each statement. One that the whole text cannot be compiled with, or that ends the process, is left out of the next run."""
    answers, left_out = {}, {}
    while len(left_out) < len(statements):
        text, starts = script_of(statements, left_out)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "doc.gsl").write_text(text, encoding="utf-8")
            try:
                done = subprocess.run([gasell, "--json-errors", "doc.gsl"], capture_output=True, timeout=TIMEOUT_S, cwd=folder, stdin=subprocess.DEVNULL, env={**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"})
                out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
            except subprocess.TimeoutExpired as e:
                out, err = (e.stdout or b"").decode("utf-8", "replace"), f"no answer within {TIMEOUT_S} s"
        parts = out.split(MARK)[1:]
        last = None
        answers = {}
        for part in parts:
            if part.startswith("!"):
                if last is not None:
                    answers[last] = (answers[last][0], part[1:].strip())
                continue
            head, _, body = part.partition("\n")
            if head == "end":
                return {**answers, **left_out}
            last = int(head)
            answers[last] = (body, "")
        guilty = last
        for line in err.splitlines():
            if line.startswith("{") and not parts:
                error = json.loads(line)
                at = error.get("line", 0) - 1
                guilty = max((n for n, start in starts.items() if start <= at), default=min(starts))
        if guilty is None:
            guilty = min(starts)
        left_out[guilty] = ("", run.exception_of(err, 1) or err[-300:])
    return {**answers, **left_out}


def is_same(got, want):
    got, want = (re.sub(r"0x[0-9a-f]{6,}", "0x", text).rstrip("\n").split("\n") for text in (got, want))
    return len(got) == len(want) and all(run.same_line(a, b, 1e-6) for a, b in zip(got, want))


def judge(gasell, name, statements):
    """[(name, source, 'same' | 'different' | 'refused', what came, what was wanted)]"""
    answers = run_gasell(gasell, statements)
    verdicts = []
    for number, (source, _, want) in enumerate(statements):
        got, error = answers.get(number, ("", "not reached"))
        verdict = "refused" if error else "same" if is_same(got, want) else "different"
        verdicts.append((name, source, verdict, error or got, want))
    return verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(run.ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--peer", required=True, help="a Python with dask, NumPy 2 and pandas 2")
    parser.add_argument("--filter", default="", help="only names that match this regular expression")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--long", action="store_true", help="show what came and what was wanted")
    parser.add_argument("--keep", help="a file to keep Dask's answers in, and to take them from")
    options = parser.parse_args()
    if options.keep and Path(options.keep).exists():
        found = json.loads(Path(options.keep).read_text(encoding="utf-8"))
    else:
        found = ask_peer(options.peer)
        if options.keep:
            Path(options.keep).write_text(json.dumps(found), encoding="utf-8")
    reached = True
    for section, names in found.items():
        wanted = [(name, statements) for name, statements in names.items() if statements and re.search(options.filter, name)]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            results = [v for verdicts in pool.map(lambda item: judge(os.path.abspath(options.gasell), *item), wanted) for v in verdicts]
        counts = Counter(verdict for _, _, verdict, _, _ in results)
        share = counts["same"] / max(len(results), 1)
        shown = [verdict for _, _, verdict, _, want in results if want]
        print(f"{section}: {counts['same']} of {len(results)} statements the same ({share:.1%}), {counts['different']} different, {counts['refused']} refused; "
              f"of those that show something {shown.count('same')} of {len(shown)}")
        reached = reached and share >= WANTED[section]
        for name, source, verdict, got, want in results:
            if verdict == "same":
                continue
            print(f"  {verdict:9} {name}: {source.splitlines()[0]}" + (f"   [{got.splitlines()[0] if got else ''}]" if verdict == "refused" else ""))
            if options.long:
                print("".join(f"      + {line}\n" for line in got.splitlines()) + "".join(f"      - {line}\n" for line in want.splitlines()), end="")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
