#!/usr/bin/env python3
"""Random array programs on the host and on GPUs, simulated ones unless said: what they print must be the same, bit by bit.

    fuzz_devices.py --runs 20 --seed 1
    fuzz_devices.py --faults              with a random fault each; then a clean error is right too
    fuzz_devices.py --device gpu          on real GPUs, whose new memory is filled with a pattern

The arrays are large enough for pieces, splitting, streaming and eviction; operations are views, stencils, reductions, writes to parts and host functions.
"""

import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile

GASELL = os.environ["GASELL"]
SHAPES = [(3000, 1000), (1000, 3000), (3000000,), (300, 100, 100)]
SETTINGS = [
    ("sim:1", {"GASELL_SIM_MEMORY": "40MiB"}),
    ("sim:3", {"GASELL_SPLIT_FROM": "0"}),
    ("sim:2", {"GASELL_SPLIT_FROM": "0", "GASELL_SIM_MEMORY": "30MiB"}),
    ("sim:3", {"GASELL_SPLIT_FROM": "0", "GASELL_SIM_MEMORY": "30MiB", "GASELL_MEMORY": "48MiB"}),
    ("cpu", {"GASELL_MEMORY": "48MiB"}),
    ("sim:4", {"GASELL_SPLIT_FROM": "0", "GASELL_STEAL": "1", "GASELL_SIM_MEMORY": "100MiB", "GASELL_SIM_FAULT": "slow:2:2"}),
]


def index(rng, shape):
    """A slice of every axis and the shape that it gives."""
    parts, out = [], []
    for n in shape:
        start, step = rng.randrange(n // 3), rng.choice([1, 1, 1, 2, 3, -1])
        stop = rng.randrange(2 * n // 3, n)
        text, length = (f"{stop}:{start}:-1", stop - start) if step < 0 else (f"{start}:{stop}:{step}", (stop - start + step - 1) // step)
        if rng.random() < 0.4:
            text, length = ":", n
        parts.append(text)
        out.append(length)
    return ", ".join(parts), tuple(out)


def program(seed):
    rng = random.Random(seed)
    shape = rng.choice(SHAPES)
    lines = ["import numpy as np", f"r = np.random.default_rng({seed})", f"a = r.integers(0, 1000, {shape}) * 0.5", f"b = r.integers(0, 1000, {shape}) * 0.25"]
    rank = len(shape)
    for _ in range(rng.randrange(6, 14)):
        x, y = rng.choice("ab"), rng.choice("ab")
        kind = rng.randrange(11)
        if kind == 0:
            lines.append(f"{x} = {x} * 0.5 + {y}")
        elif kind == 1:
            lines.append(f"print({x}.sum(), {x}.min(), {y}.std(), ({x} + {y}).max())")
        elif kind == 2:
            where, _ = index(rng, shape)
            lines.append(f"{x}[{where}] = {rng.randrange(9)}")
        elif kind == 3:
            where, _ = index(rng, shape)
            lines.append(f"{x}[{where}] = {y}[{where}] * 2 - 1")
        elif kind == 4:
            where, _ = index(rng, shape)
            lines.append(f"print(({x}[{where}] + 1).sum(), {x}[{where}].mean())")
        elif kind == 5:
            axis = rng.randrange(rank)
            lines.append(f"s = {x}.sum(axis={axis})")
            lines.append(f"print(s.sum(), s.ravel()[:3], s.ravel()[-2:])")
            if rank > 1:
                lines.append(f"{y} = {y} + np.expand_dims(s, {axis}) * 0.001953125")
        elif kind == 6:
            inner = ", ".join(["1:-1"] * rank)
            low, high = ", ".join([":-2"] + ["1:-1"] * (rank - 1)), ", ".join(["2:"] + ["1:-1"] * (rank - 1))
            lines.append(f"{x}[{inner}] = ({y}[{low}] + {y}[{high}]) * 0.5")
        elif kind == 7:
            lines.append(f"{x} = {x}.T.copy().T + 0" if rank > 1 else f"{x} = {x}[::-1] + 0")
        elif kind == 8:
            at = ", ".join(str(rng.randrange(n)) for n in shape)
            lines.append(f"{x}[{at}] = 77; print({x}[{at}], {y}[{at}])")
        elif kind == 9:
            lines.append(f"print(np.sort({x}.ravel()[::{rng.choice([97, 1009])}])[::400])")
        else:
            half = shape[0] // 2
            lines.append(f"{x} = np.concatenate([{x}[{half}:], {y}[:{half}]])")
    lines.append("print(a.sum(), b.sum(), a.ravel()[::100003], b.ravel()[5::100003])")
    return "\n".join(lines) + "\n"


def run(text, device, settings, cache):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GASELL")}
    environment = {**kept, **settings, "XDG_CACHE_HOME": cache, "NO_COLOR": "1"}
    return subprocess.run([GASELL, "--device", device, "-c", text], capture_output=True, text=True, timeout=120, env=environment, stdin=subprocess.DEVNULL)


def with_fault(seed, settings):
    rng = random.Random(seed)
    return {**settings, "GASELL_SIM_FAULT": rng.choice(["oom@{}", "lost@launch:{}", "lost@copy:{}"]).format(rng.randrange(1, 60))}


def is_right(done, right, faults):
    if done.returncode == 0:
        return done.stdout == right and (faults or not done.stderr)
    # A clean error, and nothing wrong printed before it.
    return faults and done.returncode == 1 and bool(re.search(r"^(RuntimeError|MemoryError): .+", done.stderr, re.M)) and right.startswith(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", action="append", default=[], help="instead of simulated GPUs in several settings; may be repeated")
    parser.add_argument("--faults", action="store_true")
    options = parser.parse_args()
    settings_of = [(device, {"GASELL_SPLIT_FROM": "0", "GASELL_GPU_POISON": "1"}) for device in options.device] or SETTINGS
    failed = 0
    with tempfile.TemporaryDirectory() as cache, concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count())) as pool:

        def check(seed):
            text = program(seed)
            host = run(text, "cpu", {}, cache)
            if host.returncode:  # a program that fails everywhere compares nothing
                return [(seed, "cpu", {}, text, "", host)]
            right = host.stdout
            chosen = [(device, with_fault(seed + k, settings) if options.faults else settings) for k, (device, settings) in enumerate(settings_of)]
            answers = [(seed, device, settings, text, right, run(text, device, settings, cache)) for device, settings in chosen]
            return [answer for answer in answers if not is_right(answer[5], right, options.faults)]

        for wrong in pool.map(check, range(options.seed, options.seed + options.runs)):
            for seed, device, settings, text, right, got in wrong[:1]:
                failed += 1
                print(f"seed {seed}, {device} {settings}\n{text}--- host\n{right}--- {device}\n{got.stdout}{got.stderr}", flush=True)
    print(f"{options.runs - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
