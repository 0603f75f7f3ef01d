#!/usr/bin/env python3
"""The ten group-by and five join questions of H2O.ai's db-benchmark beside Polars and DuckDB, in memory, on data from the generator below.

  tests/bench/db_benchmark.py --gasell build/release/bin/gasell --python PYTHON [--rows 10000000] [--groups 100] [--engines gasell,polars,duckdb,pandas]
      [--questions g1,g2,j5] [--runs 2] [--data FOLDER] [--results FILE.md] [--memory 4GiB]

PYTHON is an interpreter with NumPy, Polars, DuckDB and pandas. The tables follow the published definition (G1_1e7_1e2_0_0, J1_1e7_NA_0_0): texts
id1, id2 of K groups and id3 of N/K, integers id4, id5 of 1..K and id6 of 1..N/K, v1 of 1..5, v2 of 1..15, v3 floats of 0..100 with six digits; for
joins a table of N rows and three of N/1e6, N/1e3 and N rows whose keys overlap by nine tenths. Each engine is a process of its own that reads the
CSV files, then answers each question --runs times; the fastest answer counts, and what it sums to is compared between engines. An answer counts when all of
its values are in memory.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

GENERATOR = r'''
import os, sys, numpy as np, polars as pl
folder, n, k, tables = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4].split(",")
random = np.random.default_rng(108)
def draw(high, size=n):
    return random.integers(1, high, size, endpoint=True).astype(np.int32)
def write(name, columns):
    """{column: values, or (width, numbers) of the texts "id…"}, a slice at a time."""
    with open(f"{folder}/{name}.part", "wb") as file:
        size = len(columns[next(reversed(columns))])
        for begin in range(0, size, 10_000_000):
            part = {}
            for column, values in columns.items():
                width, values = values if isinstance(values, tuple) else (None, values)
                part[column] = pl.Series(values[begin:begin + 10_000_000])
                if width:
                    part[column] = "id" + part[column].cast(pl.String).str.zfill(width)
            pl.DataFrame(part).write_csv(file, include_header=begin == 0)
    os.rename(f"{folder}/{name}.part", f"{folder}/{name}.csv")
many = max(n // k, 1)
G1 = {"id1": (3, draw(k)), "id2": (3, draw(k)), "id3": (10, draw(many)), "id4": draw(k), "id5": draw(k), "id6": draw(many),
      "v1": draw(5), "v2": draw(15), "v3": np.round(random.uniform(0, 100, n), 6)}
if "groups" in tables:
    write("G1", G1)
del G1
if "joins" not in tables:
    sys.exit()
def keys(size):
    """(of the large table, of the other): nine tenths are shared."""
    all_keys = random.permutation(np.arange(1, int(size * 1.1) + 1))
    shared, left, right = np.split(all_keys, [int(size * 0.9), size])
    return np.concatenate([shared, left]), np.concatenate([shared, right[:size - len(shared)]])
small, medium, big = max(n // 1_000_000, 10), max(n // 1000, 10), n
k1, k2, k3 = keys(small), keys(medium), keys(big)
def column(of, size):
    return np.concatenate([of, random.choice(of, size - len(of))])[random.permutation(size)] if len(of) < size else random.permutation(of)
def table(name, size, parts, value):
    data = {}
    for number, of in parts:
        data[f"id{number}"] = column(of, size)
    for number, of in parts:
        data[f"id{number + 3}"] = (1, data[f"id{number}"])
    data[value] = np.round(random.uniform(0, 100, size), 6)
    write(name, data)
table("x", n, [(1, k1[0]), (2, k2[0]), (3, k3[0])], "v1")
table("small", small, [(1, k1[1])], "v2")
table("medium", medium, [(1, k1[1]), (2, k2[1])], "v2")
table("big", n, [(1, k1[1]), (2, k2[1]), (3, k3[1])], "v2")
'''

# Answers in pandas' words. CHECK sums the columns named, so that engines can be compared.
PANDAS = r'''
import sys, time
import pandas as pd
folder, questions, gasell, runs = sys.argv[1], sys.argv[2].split(","), sys.argv[3] == "gasell", int(sys.argv[4])
results = {}
def ask(name, answer, columns):
    if name not in questions:
        return
    best = 1e9
    for run in range(runs):
        start = time.perf_counter()
        found = answer()
        if gasell:
            found.compute()
        best = min(best, time.perf_counter() - start)
        sums = [float(found[c].sum()) for c in columns]
        count = len(found)
        del found
    results[name] = {"seconds": best, "rows": count, "sums": sums}
    print(name, best)
def read(name):
    table = pd.read_csv(f"{folder}/{name}.csv")
    if gasell:
        table.compute()
    return table
if any(q[0] == "g" for q in questions):
    x = read("G1")
    def by(keys, columns):
        return x.groupby(keys, as_index=False, sort=False, observed=True, dropna=False)
    ask("g1", lambda: by("id1", 0).agg({"v1": "sum"}), ["v1"])
    ask("g2", lambda: by(["id1", "id2"], 0).agg({"v1": "sum"}), ["v1"])
    ask("g3", lambda: by("id3", 0).agg({"v1": "sum", "v3": "mean"}), ["v1", "v3"])
    ask("g4", lambda: by("id4", 0).agg({"v1": "mean", "v2": "mean", "v3": "mean"}), ["v1", "v2", "v3"])
    ask("g5", lambda: by("id6", 0).agg({"v1": "sum", "v2": "sum", "v3": "sum"}), ["v1", "v2", "v3"])
    ask("g6", lambda: by(["id4", "id5"], 0).agg(median=("v3", "median"), std=("v3", "std")), ["median", "std"])
    def range_of_v1_v2():
        found = by("id3", 0).agg({"v1": "max", "v2": "min"})
        return found.assign(range_v1_v2=found["v1"] - found["v2"])[["id3", "range_v1_v2"]]
    ask("g7", range_of_v1_v2, ["range_v1_v2"])
    ask("g8", lambda: x[~x["v3"].isna()][["id6", "v3"]].sort_values("v3", ascending=False).groupby("id6", as_index=False, sort=False, observed=True, dropna=False).head(2)[["id6", "v3"]], ["v3"])
    def squared_correlation():
        pairs = x[["id2", "id4", "v1", "v2"]].assign(xx=x["v1"] * x["v1"], yy=x["v2"] * x["v2"], xy=x["v1"] * x["v2"])
        m = pairs.groupby(["id2", "id4"], as_index=False, sort=False, observed=True, dropna=False).mean()
        return m.assign(r2=(m["xy"] - m["v1"] * m["v2"]) ** 2 / ((m["xx"] - m["v1"] ** 2) * (m["yy"] - m["v2"] ** 2)))[["id2", "id4", "r2"]]
    ask("g9", squared_correlation, ["r2"])
    ask("g10", lambda: by(["id1", "id2", "id3", "id4", "id5", "id6"], 0).agg(v3=("v3", "sum"), count=("v1", "count")), ["v3", "count"])
    del x
if any(q[0] == "j" for q in questions):
    x, small, medium, big = [read(name) for name in ("x", "small", "medium", "big")]
    ask("j1", lambda: x.merge(small, on="id1"), ["v1", "v2"])
    ask("j2", lambda: x.merge(medium, on="id2"), ["v1", "v2"])
    ask("j3", lambda: x.merge(medium, how="left", on="id2"), ["v1", "v2"])
    ask("j4", lambda: x.merge(medium, on="id5"), ["v1", "v2"])
    ask("j5", lambda: x.merge(big, on="id3"), ["v1", "v2"])
print(str(results).replace("'", '"'))
'''

POLARS = r'''
import json, sys, time
import polars as pl
from polars import col
folder, questions, runs = sys.argv[1], sys.argv[2].split(","), int(sys.argv[4])
results = {}
def ask(name, answer, columns):
    if name not in questions:
        return
    best = 1e9
    for run in range(runs):
        start = time.perf_counter()
        found = answer().collect()
        best = min(best, time.perf_counter() - start)
        results[name] = {"seconds": best, "rows": found.height, "sums": [float(found[c].sum()) for c in columns]}
        del found
    print(name, best, file=sys.stderr, flush=True)
def read(name):
    return pl.read_csv(f"{folder}/{name}.csv", schema_overrides={f"id{i}": pl.Categorical for i in ((1, 2, 3) if name == "G1" else (4, 5, 6))}, infer_schema_length=1000).lazy()
if any(q[0] == "g" for q in questions):
    x = read("G1").collect().lazy()
    ask("g1", lambda: x.group_by("id1").agg(col("v1").sum()), ["v1"])
    ask("g2", lambda: x.group_by("id1", "id2").agg(col("v1").sum()), ["v1"])
    ask("g3", lambda: x.group_by("id3").agg(col("v1").sum(), col("v3").mean()), ["v1", "v3"])
    ask("g4", lambda: x.group_by("id4").agg(col("v1").mean(), col("v2").mean(), col("v3").mean()), ["v1", "v2", "v3"])
    ask("g5", lambda: x.group_by("id6").agg(col("v1").sum(), col("v2").sum(), col("v3").sum()), ["v1", "v2", "v3"])
    ask("g6", lambda: x.group_by("id4", "id5").agg(col("v3").median().alias("median"), col("v3").std().alias("std")), ["median", "std"])
    ask("g7", lambda: x.group_by("id3").agg((col("v1").max() - col("v2").min()).alias("range_v1_v2")), ["range_v1_v2"])
    ask("g8", lambda: x.drop_nulls("v3").group_by("id6").agg(col("v3").top_k(2)).explode("v3"), ["v3"])
    ask("g9", lambda: x.group_by("id2", "id4").agg((pl.corr("v1", "v2") ** 2).alias("r2")), ["r2"])
    ask("g10", lambda: x.group_by("id1", "id2", "id3", "id4", "id5", "id6").agg(col("v3").sum(), col("v1").count().alias("count")), ["v3", "count"])
if any(q[0] == "j" for q in questions):
    x, small, medium, big = [read(name).collect().lazy() for name in ("x", "small", "medium", "big")]
    ask("j1", lambda: x.join(small, on="id1"), ["v1", "v2"])
    ask("j2", lambda: x.join(medium, on="id2"), ["v1", "v2"])
    ask("j3", lambda: x.join(medium, how="left", on="id2"), ["v1", "v2"])
    ask("j4", lambda: x.join(medium, on="id5"), ["v1", "v2"])
    ask("j5", lambda: x.join(big, on="id3"), ["v1", "v2"])
print(json.dumps(results))
'''

DUCKDB = r'''
import json, sys, time
import duckdb
folder, questions, runs = sys.argv[1], sys.argv[2].split(","), int(sys.argv[4])
results = {}
db = duckdb.connect()
db.execute("SET preserve_insertion_order = false")
def ask(name, query, columns):
    if name not in questions:
        return
    best = 1e9
    for run in range(runs):
        db.execute("DROP TABLE IF EXISTS answer")
        start = time.perf_counter()
        db.execute(f"CREATE TABLE answer AS {query}")
        best = min(best, time.perf_counter() - start)
    sums = db.execute("SELECT count(*), " + ", ".join(f"sum({c})" for c in columns) + " FROM answer").fetchone()
    results[name] = {"seconds": best, "rows": sums[0], "sums": [float(s) for s in sums[1:]]}
    print(name, best, file=sys.stderr, flush=True)
def read(name):
    db.execute(f"CREATE TABLE {name} AS SELECT * FROM read_csv('{folder}/{name}.csv')")
if any(q[0] == "g" for q in questions):
    read("G1")
    ask("g1", "SELECT id1, sum(v1) AS v1 FROM G1 GROUP BY id1", ["v1"])
    ask("g2", "SELECT id1, id2, sum(v1) AS v1 FROM G1 GROUP BY id1, id2", ["v1"])
    ask("g3", "SELECT id3, sum(v1) AS v1, avg(v3) AS v3 FROM G1 GROUP BY id3", ["v1", "v3"])
    ask("g4", "SELECT id4, avg(v1) AS v1, avg(v2) AS v2, avg(v3) AS v3 FROM G1 GROUP BY id4", ["v1", "v2", "v3"])
    ask("g5", "SELECT id6, sum(v1) AS v1, sum(v2) AS v2, sum(v3) AS v3 FROM G1 GROUP BY id6", ["v1", "v2", "v3"])
    ask("g6", "SELECT id4, id5, quantile_cont(v3, 0.5) AS median, stddev(v3) AS std FROM G1 GROUP BY id4, id5", ["median", "std"])
    ask("g7", "SELECT id3, max(v1) - min(v2) AS range_v1_v2 FROM G1 GROUP BY id3", ["range_v1_v2"])
    ask("g8", "SELECT id6, unnest(max(v3, 2)) AS v3 FROM G1 WHERE v3 IS NOT NULL GROUP BY id6", ["v3"])
    ask("g9", "SELECT id2, id4, pow(corr(v1, v2), 2) AS r2 FROM G1 GROUP BY id2, id4", ["r2"])
    ask("g10", "SELECT id1, id2, id3, id4, id5, id6, sum(v3) AS v3, count(v1) AS count FROM G1 GROUP BY id1, id2, id3, id4, id5, id6", ["v3", "count"])
    db.execute("DROP TABLE G1")
if any(q[0] == "j" for q in questions):
    for name in ("x", "small", "medium", "big"):
        read(name)
    all_of = "x.*, {0}.* EXCLUDE ({1})"
    for name, other, how, key in (("j1", "small", "JOIN", "id1"), ("j2", "medium", "JOIN", "id2"), ("j3", "medium", "LEFT JOIN", "id2"), ("j4", "medium", "JOIN", "id5"), ("j5", "big", "JOIN", "id3")):
        columns = [c[0] for c in db.execute(f"DESCRIBE {other}").fetchall()]
        more = ", ".join(f"{other}.{c} AS {other}_{c}" if c != "v2" else f"{other}.v2" for c in columns if c != key)
        ask(name, f"SELECT x.*, {more} FROM x {how} {other} ON x.{key} = {other}.{key}", ["v1", "v2"])
print(json.dumps(results))
'''

QUESTIONS = [f"g{i}" for i in range(1, 11)] + [f"j{i}" for i in range(1, 6)]


def run(engine, options, folder):
    """{question: {seconds, rows, sums}}"""
    text = {"gasell": PANDAS, "pandas": PANDAS, "polars": POLARS, "duckdb": DUCKDB}[engine]
    with tempfile.NamedTemporaryFile("w", suffix=".gsl" if engine == "gasell" else ".py") as script:
        script.write(text)
        script.flush()
        program = [options.gasell, *(["--memory", options.memory] if options.memory else [])] if engine == "gasell" else [options.python]
        process = subprocess.Popen([*program, script.name, str(folder), options.questions, engine, str(options.runs)], stdout=subprocess.PIPE, text=True)
        timer = threading.Timer(options.timeout, process.kill)
        timer.start()
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
    if status != 0:
        sys.exit(f"{engine} failed")
    print(f"{engine}: {usage.ru_maxrss / 2**20:.2f} GiB resident at most, {usage.ru_utime + usage.ru_stime:.1f} s of the processor")
    return json.loads(printed.strip().splitlines()[-1].replace("nan", "NaN").replace("inf", "Infinity"))


def compare(answers):
    """Says where an engine's sums differ from the first one's."""
    first = next(iter(answers))
    for engine, found in answers.items():
        for question, answer in found.items():
            expected = answers[first].get(question)
            if expected and (answer["rows"] != expected["rows"] or any(not math.isclose(a, b, rel_tol=1e-9) for a, b in zip(answer["sums"], expected["sums"]))):
                print(f"{question}: {engine} has {answer['rows']} rows, {answer['sums']}; {first} {expected['rows']}, {expected['sums']}")


def table(answers, options):
    engines = list(answers)
    others = [e for e in engines if e in ("polars", "duckdb")]
    lines = [f"{options.rows:.0e} rows, {options.groups} groups, {os.cpu_count()} cores{f', Gasell with a budget of {options.memory}' if options.memory else ''}; seconds, the best of {options.runs}.", "",
             "| question | " + " | ".join(engines) + " | the better of Polars and DuckDB / Gasell |", "|---|" + "---:|" * (len(engines) + 1)]
    ratios = []
    for q in options.questions.split(","):
        times = {e: answers[e][q]["seconds"] for e in engines if q in answers[e]}
        ratio = ""
        if "gasell" in times and any(e in times for e in others):
            value = min(times[e] for e in others if e in times) / times["gasell"]
            ratios.append(value)
            ratio = f"{value:.2f}"
        lines.append(f"| {q} | " + " | ".join(f"{times[e]:.3f}" if e in times else "" for e in engines) + f" | {ratio} |")
    if ratios:
        lines.append(f"\nGeometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}, least {min(ratios):.2f}.")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default="build/release/bin/gasell")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rows", type=lambda s: int(float(s)), default=10_000_000)
    parser.add_argument("--groups", type=int, default=100)
    parser.add_argument("--engines", default="gasell,polars,duckdb")
    parser.add_argument("--questions", default=",".join(QUESTIONS))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--results", type=Path)
    parser.add_argument("--memory", help="Gasell's budget: 4GiB")
    parser.add_argument("--runs", type=int, default=2, help="how often each question is answered")
    parser.add_argument("--timeout", type=float, default=3600)
    options = parser.parse_args()
    folder = options.data or Path(tempfile.gettempdir()) / f"gasell_db_benchmark_{options.rows}_{options.groups}"
    wanted = {"groups": ("g", "G1.csv"), "joins": ("j", "big.csv")}
    tables = [name for name, (letter, file) in wanted.items() if letter in options.questions and not (folder / file).exists()]
    if tables:
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([options.python, "-c", GENERATOR, str(folder), str(options.rows), str(options.groups), ",".join(tables)], check=True)
    answers = {engine: run(engine, options, folder) for engine in options.engines.split(",")}
    compare(answers)
    text = table(answers, options)
    print(text)
    if options.results:
        options.results.write_text(f"# db-benchmark\n\n`tests/bench/db_benchmark.py`: {text}\n")


if __name__ == "__main__":
    main()
