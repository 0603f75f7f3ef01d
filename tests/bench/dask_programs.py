#!/usr/bin/env python3
"""Times programs as Dask's documentation has them: the same text under Gasell and under Dask with its threads.

    tests/bench/dask_programs.py --gasell build/release/bin/gasell --python PYTHON [--rounds 3] [--scale 1] [NAMES…]

PYTHON has dask[array,dataframe,distributed] and pyarrow. Each program runs in a process of its own; imports and what makes its data are outside of the time, building
the graph is inside. The best round counts; results are compared first. `--scale` multiplies the sizes. The ratio is Dask's time over Gasell's.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = """
import math, os, sys, time
import numpy as np
import pandas as pd
import dask
import dask.array as da
import dask.dataframe as dd
{setup}
best = 1e9
for k in range({rounds}):
    t = time.perf_counter()
    {body}
    best = min(best, time.perf_counter() - t)
print(best, {check})
"""

SIDE, ROWS, TASKS, FILES = 8000, 4_000_000, 2000, 8

# name: (group, setup, what is timed, a number to compare, its relative tolerance). {n}: a size, {folder}: of files.
PROGRAMS = {
    "(x + x.T)[::2, n/2:].mean(axis=1)": ("arrays", "x = da.ones(({side}, {side}), chunks=(1000, 1000)) * 1.5", "y = (x + x.T)[::2, {side} // 2:].mean(axis=1).compute()", "float(y.sum())", 1e-9),
    "normal(…).mean()": ("arrays", "", "y = da.random.normal(10, 0.1, size=({side}, {side}), chunks=(1000, 1000)).mean().compute()", "float(y)", 1e-3),
    "normal(…)[::2, ::2].std()": ("arrays", "", "y = (da.random.normal(10, 1, size=({side}, {side}), chunks=(1000, 1000)) + 1)[::2, ::2].std().compute()", "float(y)", 1e-2),
    "sin(x)**2 + cos(x)**2": ("arrays", "x = da.arange({side} * {side}, chunks=1000000) / 1000", "y = (da.sin(x)**2 + da.cos(x)**2).sum().compute()", "float(y)", 1e-9),
    "x.map_blocks(f).sum()": ("arrays", "x = da.arange({side} * {side}, chunks=1000000) / 1000", "y = x.map_blocks(lambda b: np.sqrt(b) * 2 + 1).sum().compute()", "float(y)", 1e-9),
    "x.map_overlap(smooth)": ("arrays", "x = da.ones(({side}, {side}), chunks=(1000, 1000)).cumsum(axis=0).persist()",
                              "y = x.map_overlap(lambda b: (b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:]) / 4, depth=1, boundary='reflect', trim=False).sum().compute()", "float(y)", 1e-9),
    "x.T @ x, tall": ("arrays", "x = (da.arange({rows} // 4 * 10, chunks=1000000) % 7.0).reshape(({rows} // 4, 10)).rechunk((100000, 10)).persist()", "y = (x.T @ x).sum().compute()", "float(y)", 1e-9),
    "svd, tall": ("arrays", "x = da.random.normal(size=({rows} // 8, 20), chunks=(50000, 20)).persist()", "u, s, v = da.linalg.svd(x)\n    y = s.compute()", "float((y**2).sum() / (x**2).sum().compute())", 1e-9),
    "x[x > 500].sum()": ("arrays", "x = da.arange({rows}, chunks=500000) % 1000", "y = x[x > 500].sum().compute()", "float(y)", 1e-9),
    "groupby(name).x.std()": ("frames", "df = dd.from_pandas(pd.DataFrame({{'name': np.arange({rows}) % 26, 'x': np.arange({rows}) % 1013 / 7}}), npartitions=8)", "y = df.groupby('name').x.std().compute()", "float(y.sum())", 1e-9),
    "df[df.y > 0].x.mean()": ("frames", "df = dd.from_pandas(pd.DataFrame({{'y': np.arange({rows}) % 5 - 2, 'x': np.arange({rows}) % 1013 / 7}}), npartitions=8)", "y = (df[df.y > 0].x * 2 + 1).mean().compute()", "float(y)", 1e-9),
    "merge on ints": ("frames", "a = dd.from_pandas(pd.DataFrame({{'k': np.arange({rows}) * 7919 % 100003, 'x': np.arange({rows}) / 2}}), npartitions=8)\nb = pd.DataFrame({{'k': np.arange(100003), 'z': np.arange(100003) * 2.0}})",
                      "y = a.merge(b, on='k').z.sum().compute()", "float(y)", 1e-9),
    "value_counts of texts": ("frames", "df = dd.from_pandas(pd.DataFrame({{'t': ['name %d' % (k % 1000) for k in range({rows} // 4)]}}), npartitions=8)", "y = df.t.value_counts().compute()", "int(y.sum())", 0),
    "read_csv of files, groupby": ("frames", "", "y = dd.read_csv('{folder}/part-*.csv').groupby('name').x.mean().compute()", "float(y.sum())", 1e-9),
    "read_parquet, filter, sum": ("frames", "", "df = dd.read_parquet('{folder}/all.parquet')\n    y = df[df.id > 100].x.sum().compute()", "float(y)", 1e-9),
    "delayed: inc, then sum": ("tasks", "def inc(i):\n    return i + 1", "y = dask.delayed(sum)([dask.delayed(inc)(i) for i in range({tasks})]).compute()", "int(y)", 0),
    "client.map, gather": ("tasks", "from dask.distributed import Client\ndef inc(i):\n    return i + 1\nif __name__ == '__main__':\n    client = Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None)",
                           "y = sum(client.gather(client.map(inc, range({tasks} * k, {tasks} * (k + 1)))))", "int(y)", 0),
}


def make_files(folder, rows):
    """What both read: written by pandas, so that neither is at home."""
    import numpy as np
    import pandas as pd

    for k in range(FILES):
        n = np.arange(rows // FILES) + k * (rows // FILES)
        pd.DataFrame({"id": n % 1000, "name": [f"name {v}" for v in n % 26], "x": n % 1013 / 7, "y": n % 17 / 3}).to_csv(folder / f"part-{k}.csv", index=False)
    n = np.arange(rows)
    pd.DataFrame({"id": n % 1000, "x": n % 1013 / 7, "y": n % 17 / 3}).to_parquet(folder / "all.parquet", row_group_size=rows // FILES)


def timed(command, text, folder):
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    run = subprocess.run([*command, str(path)], capture_output=True, text=True, timeout=600, env=os.environ | {"DASK_SCHEDULER": "threads"})
    if run.returncode:
        return None, (run.stderr.strip().splitlines() or ["failed"])[-1]
    seconds, check = run.stdout.split()[-2:]
    return float(seconds), float(check)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="programs whose names or groups contain one of these")
    parser.add_argument("--gasell", default="build/release/bin/gasell")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    ratios, results, wrong = {}, {}, 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        subprocess.run([options.python, "-c", f"import pathlib, sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r}); import dask_programs as d; "
                        f"d.make_files(pathlib.Path({place!r}), {int(ROWS * options.scale)})"], check=True)
        print("| program | Gasell | Dask | Dask / Gasell |\n|---|---:|---:|---:|")
        for name, (group, setup, body, check, tolerance) in PROGRAMS.items():
            if options.names and not any(n in name or n in group for n in options.names):
                continue
            sizes = {"side": int(SIDE * options.scale**0.5), "rows": int(ROWS * options.scale), "tasks": TASKS, "folder": place}
            text = PROGRAM.format(setup=setup.format(**sizes), body=body.format(**sizes), check=check, rounds=options.rounds)
            found = {who: timed(command, text, folder) for who, command in {"gasell": [options.gasell], "dask": [options.python]}.items()}
            (own, own_check), (peer, peer_check) = found["gasell"], found["dask"]
            if own is None or peer is None:
                print(f"| {name} | {own_check if own is None else own} | {peer_check if peer is None else peer} | – |", flush=True)
                wrong += own is None
                continue
            same = math.isclose(own_check, peer_check, rel_tol=tolerance, abs_tol=0)
            wrong += not same
            each = f", {1e6 * own / TASKS:.1f} µs and {1e6 * peer / TASKS:.0f} µs a task" if group == "tasks" else ""
            print(f"| {name} | {1e3 * own:.2f} ms | {1e3 * peer:.1f} ms | {peer / own:.1f}{each}{'' if same else f' WRONG: {own_check} for {peer_check}'} |", flush=True)
            ratios.setdefault(group, []).append(peer / own)
            results[name] = {"gasell": own, "dask": peer}
    for group, values in ratios.items():
        print(f"{group}: geometric mean {math.exp(sum(map(math.log, values)) / len(values)):.1f} over {len(values)}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
