#!/usr/bin/env python3
"""Times reductions of an array larger than a GPU's memory on one, two and four GPUs, checks that the bits are the same, and shows the rates beside the link's.

    tests/bench/gpu_streaming.py --gasell build/release/bin/gasell                        48 GiB, of each GPU's memory 8 GiB used
    tests/bench/gpu_streaming.py --size 32GiB --gpu-memory 4GiB --gpus 1 2 --links 55 110
    tests/bench/gpu_streaming.py --file /data/x.npy                                       a file of float64, mapped; made when it is not there

The array lies in the host's memory (or in the page cache, a file): every pass over it crosses the links. GASELL_GPU_MEMORY stands for a card that is smaller
than the array, where the host's memory is no larger than the card's. A time is the best of several evaluations in a process; the first, with compiling and
first touches, is shown too. `tests/gpu/cuda_check` prints what the links do at best: give it with --links, in GB/s, one for each count of GPUs."""

import argparse
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
from harness.report import duration, text_table  # noqa: E402

CASES = {"sum": "x.sum()", "fused sum": "(x * 2 + 1).sum()", "std": "x.std()", "axis 0": "x.reshape(-1, 1024).sum(axis=0).sum()"}
UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}

SCRIPT = """
import time
import numpy as np
{make}
for name, f in {cases}:
    times = []
    for k in range({repeat} + 1):
        start = time.perf_counter()
        value = float(f())
        times.append(time.perf_counter() - start)
    print(name, value.hex(), times[0], min(times[1:]), sep='|')
"""


def parse_size(text):
    match = re.fullmatch(r"([\d.]+) *([KMGT]iB)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size: 48GiB")
    return int(float(match[1]) * UNITS[match[2]])


def gasell(options, device, script, *arguments):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GASELL")}
    if options.gpu_memory:
        environment["GASELL_GPU_MEMORY"] = environment["GASELL_SIM_MEMORY"] = str(options.gpu_memory)
    done = subprocess.run([options.gasell, "--device", device, *arguments, "-c", script], capture_output=True, text=True, env=environment, timeout=options.timeout)
    if done.returncode:
        raise SystemExit(f"{device}:\n{done.stdout}{done.stderr}")
    return done.stdout


def measure(options, device):
    n = options.size // 8
    values = f"np.arange({n}) * 0.6180339887498949 % 1.0"
    if options.file:
        if not os.path.exists(options.file):
            gasell(options, "cpu", f"np.save({options.file!r}, {values})")
        make = f"x = np.load({options.file!r})"
    else:
        make = f"with device('cpu'):\n    x = ({values}).persist()"
    cases = "[" + ", ".join(f"({name!r}, lambda: {expression})" for name, expression in CASES.items()) + "]"
    out = gasell(options, device, SCRIPT.format(make=make, cases=cases, repeat=options.repeat))
    results = {}
    for line in out.splitlines():
        name, value, first, best = line.split("|")
        results[name] = {"value": value, "first": float(first), "best": float(best)}
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.path.join(ROOT, "build/release/bin/gasell"))
    parser.add_argument("--size", type=parse_size, default=parse_size("48GiB"), help="of the array")
    parser.add_argument("--gpu-memory", type=parse_size, default=parse_size("8GiB"), help="that is used of each GPU")
    parser.add_argument("--gpus", type=int, nargs="+", default=[1, 2, 4], help="how many at a time")
    parser.add_argument("--links", type=float, nargs="+", default=[], metavar="GB/s", help="the links' best rate for each of these")
    parser.add_argument("--file", help="a .npy file to map in place of an array in memory")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--sim", action="store_true", help="simulated GPUs, to try the script")
    parser.add_argument("--timeout", type=float, default=540)
    parser.add_argument("--json", help="write the figures there too")
    options = parser.parse_args()
    if options.links and len(options.links) != len(options.gpus):
        parser.error("--links wants as many rates as --gpus has counts")

    figures, rows, wrong = {}, [], False
    for k, count in enumerate(options.gpus):
        device = f"sim:{count}" if options.sim else "gpu:" + ",".join(str(g) for g in range(count))
        figures[count] = measure(options, device)
        for name, figure in figures[count].items():
            base = figures[options.gpus[0]][name]
            rate = options.size / figure["best"] / 1e9
            same = figure["value"] == base["value"]
            wrong |= not same
            rows.append([name, str(count), duration(figure["first"]), duration(figure["best"]), f"{rate:.1f} GB/s",
                         f"{100 * rate / options.links[k]:.0f} %" if options.links else "", f"{base['best'] / figure['best']:.2f}", "same bits" if same else "WRONG"])
    rows.sort(key=lambda row: list(CASES).index(row[0]))
    print(f"{options.size / 2**30:.3g} GiB of float64 {'in ' + options.file if options.file else 'in host memory'}, {options.gpu_memory / 2**30:.3g} GiB of each GPU used")
    print(text_table(["case", "GPUs", "first", "best", "rate", "of the links", "times", "check"], rows))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"size": options.size, "gpu_memory": options.gpu_memory, "links": options.links, "figures": figures}, file, indent=1)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
