#!/usr/bin/env python3
"""Times reading and writing CSV files: Gasell, pandas, Polars and DuckDB.

    tests/bench/csv_files.py --gasell build/release/bin/gasell --python PYTHON [--rows 3000000] [--folder DIR] [--rounds 3] [NAMES…]

Files, made here once: `taxi` like New York's yellow taxi records of 2010 (taxi_data.py: 18 columns, texts among them) and `numbers` (5 columns of
integers, 10 of floats with 17 digits). Every program reads the whole file in a process of its own, from the page cache, and its best round counts; imports
are outside of the time. CPU time, of all threads, tells more on a machine that others use. Sums of a column are compared first. `taxi dates` reads the two columns of times as such. Polars reads to its own
frames, DuckDB into a table in memory, Gasell and pandas to frames.
"""

import argparse
import json
import pathlib
import subprocess
import sys

import taxi_data

READ = """
import time
{imports}
best = cpu = 1e9
for k in range({rounds}):
    t, c = time.perf_counter(), time.process_time()
    {read}
    s, c = time.perf_counter() - t, time.process_time() - c
    best, cpu = min(best, s), min(cpu, c)
print(best, cpu, {check})
"""

DATES = ["pickup_datetime", "dropoff_datetime"]
FILES = {"taxi": "total_amount", "taxi dates": "total_amount", "numbers": "f0"}


def programs(case, path, column):
    dates = f", parse_dates={DATES}" if case == "taxi dates" else ""
    pandas = ("import pandas as pd", f"df = pd.read_csv({path!r}{dates})", f"float(df[{column!r}].sum())")
    types = "" if case == "taxi dates" else ", auto_type_candidates=['BIGINT', 'DOUBLE', 'BOOLEAN', 'VARCHAR']"
    return {
        "gasell": ("import pandas as pd", f"df = pd.read_csv({path!r}{dates}).compute()", f"float(df[{column!r}].sum())"),
        "pandas": pandas,
        "polars": ("import polars as pl", f"df = pl.read_csv({path!r}, try_parse_dates={bool(dates)})", f"df[{column!r}].sum()"),
        "duckdb": ("import duckdb\ncon = duckdb.connect()", f'con.execute("create or replace table t as from read_csv({path!r}{types})")',
                   f"con.execute('select sum({column}) from t').fetchone()[0]"),
    }


def writers(path, target):
    return {
        "gasell": ("import pandas as pd\ndf = pd.read_csv({0!r}).compute()", "df.to_csv({1!r}, index=False)", "len(df)"),
        "pandas": ("import pandas as pd\ndf = pd.read_csv({0!r})", "df.to_csv({1!r}, index=False)", "len(df)"),
        "polars": ("import polars as pl\ndf = pl.read_csv({0!r})", "df.write_csv({1!r})", "len(df)"),
        "duckdb": ("import duckdb\ncon = duckdb.connect()\ncon.execute(\"create table t as from read_csv({0!r})\")", "con.execute(\"copy t to {1!r} (header)\")",
                   "con.execute('select count(*) from t').fetchone()[0]"),
    }


def make_numbers(path, rows):
    import numpy as np
    random = np.random.default_rng(1)
    with open(path, "w", encoding="ascii") as file:
        file.write(",".join([f"i{k}" for k in range(5)] + [f"f{k}" for k in range(10)]) + "\n")
        for begin in range(0, rows, 100_000):
            count = min(100_000, rows - begin)
            columns = [random.integers(-10**(3 + 2 * k), 10**(3 + 2 * k), count).tolist() for k in range(5)]
            columns += [random.standard_normal(count).tolist() for k in range(10)]
            file.write("".join([",".join(map(repr, row)) + "\n" for row in zip(*columns)]))


def timed(command, text):
    run = subprocess.run(command + [text], capture_output=True, text=True)
    if run.returncode:
        return None, run.stderr.strip().splitlines()[-1] if run.stderr.strip() else "failed"
    seconds, cpu, check = run.stdout.split()[-3:]
    return float(seconds), (float(cpu), float(check))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="cases whose names contain one of these")
    parser.add_argument("--gasell", default="build/release/bin/gasell")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/bench-csv"))
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    results = {}
    for case in [*FILES, "taxi written"]:
        if options.names and not any(n in case for n in options.names):
            continue
        path = options.folder / f"{case.split()[0]}_{options.rows}.csv"
        if not path.exists():
            if case == "numbers":
                make_numbers(path, options.rows)
            else:
                taxi_data.write(path, 2010, 1, options.rows)
        size = path.stat().st_size
        writing = case == "taxi written"
        target = str(options.folder / "written.csv")
        table = writers(str(path), target) if writing else programs(case, str(path), FILES[case])
        results[case] = {"bytes": size}
        expected = None
        for name, (imports, read, check) in table.items():
            if writing:
                imports, read = imports.format(str(path), target), read.format(str(path), target)
            text = READ.format(imports=imports, read=read, check=check, rounds=1 if name == "pandas" else options.rounds)
            seconds, value = timed([options.gasell if name == "gasell" else options.python, "-c"], text)
            if seconds is None:
                print(f"{case:14} {name:8} {value}")
                continue
            cpu, value = value
            expected = value if expected is None else expected
            wrong = "" if abs(value - expected) <= 1e-9 * abs(expected) else f"  WRONG: {value} for {expected}"
            results[case][name] = {"seconds": seconds, "cpu": cpu}
            print(f"{case:14} {name:8} {seconds:8.3f} s  {size / seconds / 1e6:7.0f} MB/s  {cpu:8.3f} CPU s{wrong}", flush=True)
    for case, times in results.items():
        if "gasell" in times:
            ratios = "  ".join(f"{name} {times[name]['seconds'] / times['gasell']['seconds']:.2f}x ({times[name]['cpu'] / times['gasell']['cpu']:.2f}x CPU)"
                               for name in ("pandas", "polars", "duckdb") if name in times)
            print(f"{case:14} {times['bytes'] / 1e6:.0f} MB: {ratios}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
