#!/usr/bin/env python3
"""Plants wrong indices into right programs and looks whether each is told: tests/errors/bounds.txt holds them.

A case is a program with PLANTED in it. With the first of its two numbers, an IndexError must name the marked line, the index and the extent; with
the second the program must end well. Kernels and stencils run on a simulated GPU, too.
Exit status: 0 when all did. The closing line is `N passed, N failed`.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TIMEOUT_S = 60


def run(options, cache, device, text):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "case.gsl").write_text(text, encoding="utf-8")
        env = {k: v for k, v in os.environ.items() if not k.startswith("GASELL")}
        env.update(LC_ALL="C.UTF-8", XDG_CACHE_HOME=cache, GASELL_MEMORY="1GiB")
        done = subprocess.run([options.gasell, "--device", device, "case.gsl"], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              timeout=TIMEOUT_S, cwd=folder, env=env)
    return done.returncode, done.stderr


def problems(options, cache, case):
    name, wrong, right, text = case
    marked = [k for k, line in enumerate(text.splitlines(), 1) if re.search(r"  # index -?\d+ of \d+$", line)]
    if len(marked) != 1 or "PLANTED" not in text:
        return [f"{name}: not one marked line, or nothing is planted"]
    index, extent = re.search(r"  # index (-?\d+) of (\d+)$", text, re.M).groups()
    found = []
    on_gpus = "cuda" in text or "@stencil" in text or "parallel=True" in text
    for device in ["cpu"] + (["sim:1"] if on_gpus else []):
        status, said = run(options, cache, device, text.replace("PLANTED", wrong))
        place = re.search(r"^case\.gsl:(\d+):", said, re.M)
        message = re.search(r"^IndexError: (.*)$", said, re.M)
        if status != 1 or not message or not place:
            found.append(f"{name} on {device}: status {status}, not told\n{said}")
        elif int(place[1]) != marked[0] or not re.match(rf"index {index} is out of bounds for axis \d with size {extent}\b", message[1]):
            found.append(f"{name} on {device}: line {marked[0]}, index {index} of {extent} is told as\n{said}")
        status, said = run(options, cache, device, text.replace("PLANTED", right))
        if status != 0 or said:
            found.append(f"{name} on {device}: without the planted index, status {status}\n{said}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(HERE.parent.parent / "build/dev/bin/gasell")))
    parser.add_argument("--filter", default="", help="only cases whose name matches this regular expression")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    options.gasell = str(Path(options.gasell).resolve())
    parts = re.split(r"^# --- (.+)\n# PLANTED: (\S+), or (\S+)\n", (HERE / "bounds.txt").read_text(encoding="utf-8"), flags=re.M)
    cases = [c for c in zip(parts[1::4], parts[2::4], parts[3::4], parts[4::4]) if re.search(options.filter, c[0])]
    with tempfile.TemporaryDirectory() as cache, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda case: problems(options, cache, case), cases))
    for found in results:
        for text in found:
            print(text)
    failed = sum(1 for found in results if found)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
