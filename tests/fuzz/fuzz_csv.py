#!/usr/bin/env python3
"""Random CSV texts, read by Gasell's read_csv and by pandas': names, values, what is missing, and errors must be the same.

    fuzz_csv.py --runs 5 --seed 1 --peer .venv/bin/python3

Each run reads 200 files: tables with quotes, blank lines, carriage returns, comments, ragged rows, wrong quotes and random bytes, under random options. Numbers
are compared as floats (integers with missing values are Int64 in Gasell). Gasell reads each file as it is, and again in blocks of a few bytes:
both must agree. The closing line is `N passed, N failed`; without a peer nothing is run.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FILES_A_RUN = 200
NOT_RUN = 77  # what ctest shows as skipped

SCRIPT = """
import pandas as pd

def shown(v):
    if isinstance(v, tuple):
        return "several"
    if v is pd.NA or v is None:
        return "-"
    if isinstance(v, str):
        return repr(v)
    if pd.isna(v):
        return "-"
    if str(v) in ("True", "False"):
        return str(v)
    return repr(float(v))

def answer(number, **options):
    try:
        df = pd.read_csv(f"{number}.csv", **options)
    except Exception as e:
        text = str(e).strip()
        print(number, type(e).__name__, text if "tokenizing" in text or "No columns" in text or "several levels" in text else "")
        return
    # Names are made of the files' texts.
    print(number, [str(c) for c in df.columns], [shown(i) for i in df.index][:3], len(df))
    for c in range(len(df.columns)):
        print("  ", " ".join([shown(v) for v in df.iloc[:, c].tolist()]))

"""

VALUES = [
    lambda r: str(r.randint(-100, 100)),
    lambda r: str(r.randint(-(10**12), 10**12)),
    lambda r: repr(r.uniform(-1000, 1000)),
    lambda r: f"{r.uniform(-5, 5):.2f}",
    lambda r: r.choice(["True", "False", "true", "FALSE"]),
    lambda r: r.choice(["a", "bc", "def", "x y", "é", "中文", "_", "N", "n", "-", "+", ".", "e5", "1e5", "1e", "0x1", "1_0", "in", "inf", "-inf", "Infinity", "nane"]),
    lambda r: r.choice(["", "", "NA", "nan", "NULL", "None", "n/a", "<NA>", "#N/A"]),
    lambda r: '"' + r.choice(["q", "a,b", "two\nlines", 'say ""hi""', "", " ", "1", "2.5", "cr\r\nlf", "#x", "x''y"]) + '"',
    lambda r: r.choice([" 1", "2 ", " x", "y ", " 1.5 ", "  "]),
    lambda r: r.choice(["2020-01-01", "2020-01-01 10:00:00", "1/2/2020"]),
]
WRONG = [lambda r: r.choice(['5" x', 'a"b"c', '"ab"cd', '"a" b', "\\", "a\\b", "'x'", "a;b", "a\tb", "a#b", "#", "\x00" if False else "z"])]
OPTIONS = [
    {}, {}, {}, {"header": None}, {"names": ["p", "q", "r"]}, {"skiprows": 1}, {"skiprows": [1]}, {"nrows": 3}, {"na_filter": False}, {"keep_default_na": False},
    {"comment": "#"}, {"skipinitialspace": True}, {"skip_blank_lines": False}, {"on_bad_lines": "skip"}, {"quoting": 3}, {"escapechar": "\\"}, {"dtype": "str"},
    {"index_col": 0}, {"index_col": False}, {"usecols": ["c0"]}, {"sep": ";"}, {"sep": r"\s+"}, {"quotechar": "'"}, {"thousands": ","}, {"na_values": ["a", 1]},
    {"doublequote": False}, {"header": 1},
]


def text_of(rng):
    columns = rng.randint(1, 4)
    kinds = [rng.choice(VALUES) if rng.random() < 0.7 else None for _ in range(columns)]
    feed = rng.choice(["\n", "\n", "\n", "\r\n", "\r"])
    separator = "," if rng.random() < 0.9 else rng.choice([";", " ", "\t"])
    odd = rng.random() < 0.3
    lines = [separator.join(rng.choice(["a", "b", "c", "x", "", " d", '"q"']) if rng.random() < 0.2 else f"c{k}" for k in range(columns))]
    for _ in range(rng.randint(0, 12)):
        if rng.random() < 0.05:
            lines.append(rng.choice(["", "  ", "\t", "# note"]))
        count = columns
        if odd and rng.random() < 0.15:
            count = max(1, columns + rng.choice([-1, 1]))
        values = []
        for k in range(count):
            kind = kinds[k] if k < columns and kinds[k] and rng.random() < 0.93 else rng.choice(VALUES)
            if odd and rng.random() < 0.05:
                kind = WRONG[0]
            values.append(kind(rng))
        lines.append(separator.join(values))
    text = feed.join(lines) + (feed if rng.random() < 0.8 else "")
    if feed == "\r" and any(f"\r{c}" in text for c in "\r \t,"):  # pandas reads lines twice there, or sees its buffer overflow
        text = text.replace("\r", "\n")
    return ("\ufeff" if rng.random() < 0.03 else "") + text


def answers(command, folder):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=folder)
    found, number = {}, None
    for line in done.stdout.split("\n"):
        if line[:1].isdigit():
            number, line = line.split(" ", 1)
        if number is not None:
            found[number] = found.get(number, "") + line + "\n"
    return found, "" if done.returncode == 0 else f"status {done.returncode}: {done.stderr[-300:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--peer", default=str(ROOT / ".venv/bin/python3"))
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not Path(options.peer).exists() or subprocess.run([options.peer, "-c", "import pandas"], capture_output=True).returncode:
        print("there is no Python with pandas in .venv (scripts/python_env.sh makes it): nothing is compared")
        return NOT_RUN
    failed = 0
    for i in range(options.runs):
        rng = random.Random(f"{options.seed} {i}")
        with tempfile.TemporaryDirectory() as folder:
            texts, calls, small = [], "", ""
            for k in range(FILES_A_RUN):
                texts.append((text_of(rng), rng.choice(OPTIONS)))
                (Path(folder) / f"{k}.csv").write_text(texts[k][0], encoding="utf-8", newline="")
                arguments = "".join(f", {name}={value!r}" for name, value in texts[k][1].items())
                calls += f"answer({k}{arguments})\n"
                small += f"answer({k}{arguments}, blocksize={rng.randint(1, 40)})\n"
            got, problem = answers([options.gasell, "-c", SCRIPT + calls], folder)
            blocks, second = answers([options.gasell, "-c", SCRIPT + small], folder)
            precise = SCRIPT.replace("pd.read_csv(", 'pd.read_csv(float_precision="round_trip", low_memory=False, filepath_or_buffer=')
            want, _ = answers([options.peer, "-W", "ignore", "-c", precise + calls], folder)
        for text in (problem, second):
            if text:
                failed += 1
                print(f"gasell failed: {text}")
        for k, (text, given) in enumerate(texts):
            key = str(k)
            if "several levels" in got.get(key, ""):
                continue
            if got.get(key) != want.get(key) or blocks.get(key) != got.get(key):
                failed += 1
                print(f"\nFAILED {text!r} {given}\n  pandas: {want.get(key)}  gasell: {got.get(key)}", end="")
                if blocks.get(key) != got.get(key):
                    print(f"  in blocks: {blocks.get(key)}", end="")
    print(f"{options.runs * FILES_A_RUN - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
