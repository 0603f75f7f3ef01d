#!/usr/bin/env python3
"""Times reading Parquet files: Gasell, pyarrow, pandas, Polars and DuckDB.

    tests/bench/parquet.py --gasell build/release/bin/gasell --python PYTHON [--rows 8000000] [--folder DIR] [--rounds 3] [NAMES…]

The file, made here once: numbers that come in order, floats with two digits and with all, small integers, times, few texts and many, integers with
missing ones; row groups of 2**20 rows, snappy. Every program reads columns from the page cache into memory in a process of its own; its best
round counts, and the processor time of a round beside it, since it says more on a machine that others use. Imports are outside of the time.
Gasell and pandas read to frames, Polars and pyarrow to tables of their own, DuckDB into a table in memory. `one of all` is the mean of
a column of a frame of all columns: who reads columns when they are used reads one. What was read is compared, outside of the time: sums of numbers,
the last time, the letters of all texts and the text of one row.
"""

import argparse
import ast
import json
import pathlib
import subprocess
import sys

MAKE = """
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
n, r = {rows}, np.random.default_rng(3)
few = np.array(["zone %d" % i for i in range(300)])
pq.write_table(pa.table({{
    "id": np.arange(n), "fare": np.round(r.gamma(3, 5, n), 2), "distance": r.random(n), "passengers": r.integers(0, 7, n).astype("i1"),
    "when": (r.integers(0, 10**9, n) * 10**6).astype("datetime64[us]"), "zone": pa.array(few[r.integers(0, 300, n)]),
    "ticket": pa.array(np.char.add("r", r.integers(0, n, n).astype(str))), "tip": pa.array(r.integers(0, 10**6, n), mask=r.random(n) < 0.1),
}}), {path!r}, row_group_size=1 << 20)
"""

READ = """
import time
{imports}
best, began = 1e9, time.process_time()
for k in range({rounds}):
    t = time.perf_counter()
    {read}
    s = time.perf_counter() - t
    best = s if s < best else best
print(best, (time.process_time() - began) / {rounds})
print(repr([{checks}]))
"""

CASES = {
    "numbers": ["id", "fare", "distance", "passengers", "when"],
    "missing": ["tip"],
    "few texts": ["zone"],
    "many texts": ["ticket"],
    "all": None,
    "one of all": None,
}


TEXTS, TIMES = ("zone", "ticket"), ("when",)
# What is compared of a column, by program: of numbers, times and texts; {c} is the column, {k} a row.
PANDAS_CHECKS = ("float(df['{c}'].sum())", "str(df['{c}'].max())", "int(df['{c}'].str.len().sum()), df['{c}'].iloc[{k}]")
CHECKS = {
    "gasell": PANDAS_CHECKS,
    "pandas": PANDAS_CHECKS,
    "pyarrow": ("float(pc.sum(df['{c}']).as_py())", "str(pc.max(df['{c}']).as_py())", "pc.sum(pc.utf8_length(df['{c}'])).as_py(), df['{c}'][{k}].as_py()"),
    "polars": ("float(df['{c}'].sum())", "str(df['{c}'].max())", "int(df['{c}'].str.len_chars().sum()), df['{c}'][{k}]"),
    "duckdb": ("float(one('sum(\"{c}\")'))", "str(one('max(\"{c}\")'))", "int(one('sum(length(\"{c}\"))')), one('\"{c}\"', 'where rowid = {k}')"),
}
ONE = "\none = lambda what, where='': con.execute(f'select {what} from t {where}').fetchone()[0]"


def programs(case, path, columns):
    selected = "*" if columns is None else ", ".join(f'"{c}"' for c in columns)
    table = f"create or replace table t as select {selected} from read_parquet('{path}')"
    if case == "one of all":
        return {
            "gasell": ("import pandas as pd", f"m = float(pd.read_parquet({path!r}).fare.mean())"),
            "pandas": ("import pandas as pd", f"m = float(pd.read_parquet({path!r}).fare.mean())"),
            "polars": ("import polars as pl", f"m = pl.scan_parquet({path!r}).select(pl.col('fare').mean()).collect().item()"),
            "duckdb": ("import duckdb\ncon = duckdb.connect()", f"m = con.execute(\"select avg(fare) from read_parquet('{path}')\").fetchone()[0]"),
        }
    return {
        "gasell": ("import pandas as pd", f"df = pd.read_parquet({path!r}, columns={columns}).compute()"),
        "pyarrow": ("import pyarrow.parquet as pq, pyarrow.compute as pc", f"df = pq.read_table({path!r}, columns={columns})"),
        "pandas": ("import pandas as pd", f"df = pd.read_parquet({path!r}, columns={columns})"),
        "polars": ("import polars as pl", f"df = pl.read_parquet({path!r}, columns={columns})"),
        "duckdb": ("import duckdb\ncon = duckdb.connect()" + ONE, f"con.execute({table!r})"),
    }


def checks(case, name, rows):
    if case == "one of all":
        return "m"
    number, time, text = CHECKS[name]
    columns = CASES[case] or sum((c for c in CASES.values() if c), [])
    return ", ".join((text if c in TEXTS else time if c in TIMES else number).format(c=c, k=rows * 5 // 7) for c in columns)


def same(found, wanted):
    return len(found) == len(wanted) and all(abs(a - b) <= 1e-9 * abs(b) if isinstance(b, float) else a == b for a, b in zip(found, wanted))


def run(command, text):
    done = subprocess.run([*command, "-c", text], capture_output=True, text=True, timeout=600)
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1:], file=sys.stderr)
        return None
    times, found = done.stdout.strip().splitlines()[-2:]
    wall, processor = times.split()
    return float(wall), float(processor), ast.literal_eval(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(CASES)}")
    parser.add_argument("--gasell", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--rows", type=int, default=8_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/bench"))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / f"columns-{options.rows}.parquet"
    if not path.exists():
        subprocess.run([options.python, "-c", MAKE.format(rows=options.rows, path=str(path))], check=True)
    results = {}
    wrong = False
    for case in options.names or CASES:
        wanted = None
        for name, (imports, read) in programs(case, str(path), CASES[case]).items():
            command = [options.gasell] if name == "gasell" else [options.python]
            text = READ.format(imports=imports, read=read, rounds=options.rounds, checks=checks(case, name, options.rows))
            result = run(command, text)
            if not result:
                wrong = True
                print(f"{case:12} {name:8} failed", flush=True)
                continue
            *times, found = result
            wanted = wanted or found
            differs = "" if same(found, wanted) else f"  WRONG: {found} for {wanted}"
            wrong |= bool(differs)
            results.setdefault(case, {})[name] = times
            print(f"{case:12} {name:8} {times[0] * 1000:8.1f} ms  {times[1] * 1000:8.1f} ms of processors{differs}", flush=True)
    json.dump(results, sys.stderr)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
