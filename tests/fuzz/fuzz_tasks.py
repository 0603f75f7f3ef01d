#!/usr/bin/env python3
"""Calls every function and method of dask's, sklearn's and threading's modules with arguments that they do not expect: whatever they are, a call gives a value or a Python exception; the
process never ends by a signal, and nothing speaks of an internal error.

    fuzz_tasks.py --share 300 --seed 1     what ctest runs: every 300th of the calls
    fuzz_tasks.py                          all of them
    fuzz_tasks.py --filter 'da\\.topk'      those whose texts match; --list prints them

The names are those that dir() lists. Many calls share a script, each inside its own try; of a script that ends by a signal or takes too long the last call is told.
The closing line is `N passed, N failed`.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CALLS_A_SCRIPT = 80
TIMEOUT_S = 120
INTERNAL = re.compile(r"SystemError|internal error|loop IR|std::|llvm|LLVM|Assertion `|Sanitizer|runtime error:")

BEFORE = """
import warnings, threading, queue, dask, numpy as np, pandas as pd, dask.array as da, dask.dataframe as dd, dask.bag as db, dask.base, dask.config
import sklearn, sklearn.base, sklearn.cluster, sklearn.compose, sklearn.datasets, sklearn.decomposition, sklearn.dummy, sklearn.ensemble, sklearn.impute, sklearn.linear_model, sklearn.metrics
import sklearn.model_selection, sklearn.naive_bayes, sklearn.neighbors, sklearn.pipeline, sklearn.preprocessing, sklearn.svm, sklearn.tree, sklearn.utils, sklearn.feature_extraction.text as texts
from dask.distributed import Client, LocalCluster
warnings.simplefilter('ignore')
"""
# Names that scripts of a call find.
VALUES = """
x = da.arange(12, chunks=5).reshape(3, 4)
v = da.ones(7, chunks=(2, 2, 3))
nothing = da.zeros((0, 3), chunks=2)
c = da.full((2, 2), 1 + 2j)
point = da.sum(da.ones(3))
nans = da.full((4, 2), np.nan, chunks=2)
frame = pd.DataFrame({'a': [1, 2, 3, 4], 'b': [1.0, None, 3.0, 4.0], 'k': ['x', 'y', 'x', 'z']})
df = dd.from_pandas(frame, npartitions=2)
empty = dd.from_pandas(frame[frame.a > 9], npartitions=1)
s = df.a
bag = db.from_sequence([3, 1, 2, None], npartitions=2)
late = dask.delayed(lambda *a: 5)(1)
failing = dask.delayed(lambda *a: 1 / 0)()
X = np.arange(20.0).reshape(10, 2)
y = np.array([0, 1] * 5)
lock = threading.Lock()
generator = (k for k in range(3))
class Own: pass
own = Own()
"""
CALLED = """
def called(name):
    try: return callable(getattr(owner, name))
    except Exception: return False
"""
OWNERS = [
    "da", "da.linalg", "da.fft", "da.ma", "da.stats", "da.overlap", "da.random.RandomState(1)", "da.random.default_rng(1)", "dd", "db", "dask", "dask.base", "x", "v", "nothing", "df", "s", "empty",
    "df.groupby('k')", "s.groupby(df.k)", "bag", "late", "threading", "queue", "sklearn.metrics", "sklearn.datasets", "sklearn.model_selection", "sklearn.utils", "sklearn.preprocessing", "sklearn.base",
]
ESTIMATORS = [
    "sklearn.cluster", "sklearn.compose", "sklearn.decomposition", "sklearn.dummy", "sklearn.ensemble", "texts", "sklearn.impute", "sklearn.linear_model", "sklearn.model_selection", "sklearn.naive_bayes",
    "sklearn.neighbors", "sklearn.pipeline", "sklearn.preprocessing", "sklearn.svm", "sklearn.tree",
]
ARGUMENTS = [
    "x", "v", "nothing", "c", "point", "nans", "df", "s", "empty", "bag", "late", "failing", "X", "y", "frame", "own", "lock", "None", "'x'", "''", "-1", "0", "1", "2.5", "True", "2**70", "()", "(2, 2)", "(-1, 'auto')",
    "[]", "[1, 2]", "['a', 'b']", "[[1, 2], [3]]", "{}", "{'a': 1}", "{0: 2}", "(lambda *a, **k: a[0])", "(lambda *a, **k: 'text')", "(lambda *a, **k: 1 / 0)", "len", "np.sum", "np.float32", "'float64'", "'no_such'",
    "range(3)", "slice(0, 2)", "...", "float('nan')", "float('inf')", "1j", "b'bytes'", "generator", "[x, x]", "[df, df]", "(x, v)", "'1 MiB'", "np.int8(3)", "pd.Timestamp('2020')", "[late]",
]
KEYWORDS = ["axis=5", "axis=-1", "chunks=(2, 3)", "chunks='auto'", "dtype='i4'", "depth=3", "boundary='reflect'", "npartitions=0", "meta=None", "drop_axis=0", "new_axis=9", "split_every=1", "keepdims=True"]
# They wait, end the script, or write into the working folder's surroundings.
LEFT_OUT = re.compile(r"\.(exit|input|Barrier|settrace|setprofile|stack_size|visualize|timeseries|make_people|to_\w+|store|excepthook|Thread|Timer|local)$|\.__")


def listed(gasell):
    """The names that are called, of each owner."""
    text = BEFORE + VALUES + CALLED
    for owner in [*OWNERS, *ESTIMATORS]:
        text += f"owner = {owner}\nprint(' '.join([n for n in dir(owner) if not n.startswith('_') and called(n)]))\n"
    done = run(gasell, text)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return dict(zip([*OWNERS, *ESTIMATORS], [line.split() for line in done.stdout.split("\n")]))


def run(gasell, text):
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "calls.gsl"
        script.write_text(text)
        environment = {**os.environ, "GASELL_DEVICE": "cpu", "GASELL_MEMORY": "3GiB"}
        try:
            return subprocess.run([gasell, script], cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, errors="replace")
        except subprocess.TimeoutExpired as late:
            return subprocess.CompletedProcess([], -14, (late.stdout or b"").decode(errors="replace"), "it takes too long")


def calls(gasell, random_numbers):
    """The texts of all calls."""
    made, names = [], listed(gasell)
    arguments = lambda n: [random_numbers.choice(ARGUMENTS) for _ in range(n)]
    for owner in OWNERS:
        for name in names[owner]:
            function = f"{owner}.{name}"
            if LEFT_OUT.search(function):
                continue
            made.append(f"{function}()")
            made += [f"{function}({a})" for a in ARGUMENTS]
            made += [f"{function}({', '.join(arguments(n))})" for n in (2, 2, 2, 2, 3, 3)]
            made += [f"{function}({', '.join([*arguments(1), random_numbers.choice(KEYWORDS)])})" for _ in range(4)]
    for module in ESTIMATORS:
        for name in names[module]:
            if not name[0].isupper() or name in ("GridSearchCV", "RandomizedSearchCV"):
                continue
            for method in ("fit", "fit_transform", "fit_predict", "partial_fit", "score"):
                made += [f"{module}.{name}().{method}({', '.join(arguments(2))})" for _ in range(6)]
            made += [f"{module}.{name}().fit(X, y).{method}({a})" for method in ("predict", "transform", "predict_proba", "set_params", "kneighbors") for a in arguments(4)]
            made += [f"{module}.{name}({', '.join(arguments(n))}).fit(X, y)" for n in (1, 1, 2)]
    return made


def script(chosen):
    lines = [BEFORE]
    for number, call in enumerate(chosen):
        lines.append(VALUES)
        lines.append(f"print('call', {number}, flush=True)\ntry:\n    r = {call}\n    r = r.compute() if hasattr(r, 'compute') else r\n    str(r)\nexcept (Exception, SystemExit) as e:\n    print(type(e).__name__, e)\n")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--filter", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    random_numbers = random.Random(options.seed)
    made = [c for c in calls(options.gasell, random_numbers) if re.search(options.filter, c)]
    random_numbers.shuffle(made)
    made = made[:: options.share]
    if options.list:
        print("\n".join(made))
        return 0
    failed, at = [], 0
    while at < len(made):
        chosen = made[at : at + CALLS_A_SCRIPT]
        done = run(options.gasell, script(chosen))
        begun = re.findall(r"^call (\d+)$", done.stdout, re.M)
        reached = int(begun[-1]) + 1 if begun else 0
        for piece in re.split(r"^call (?=\d+$)", done.stdout + done.stderr, flags=re.M):
            if INTERNAL.search(piece):
                number = re.match(r"\d+", piece)
                failed.append(f"{chosen[int(number[0])] if number else 'the script'}: {piece[:400]}")
        if done.returncode == 0 and reached == len(chosen):
            at += len(chosen)
            continue
        failed.append(f"{chosen[max(reached, 1) - 1]}: it ends with {done.returncode}: {done.stderr[-400:]}")
        at += max(reached, 1)
    for text in failed:
        print("FAILED", text)
    print(f"{len(made) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
