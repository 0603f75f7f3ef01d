#!/usr/bin/env python3
"""Everything that a machine with GPUs can check, in one command: right results first, then times. Needs Python, a gasell and the folder tests/.

    tests/gpu/suite.py --gasell gasell-0.1.0-linux-x86_64/bin/gasell
    tests/gpu/suite.py --gasell … --quick                   less of each
    tests/gpu/suite.py --gasell … --sanitize                a part of it under compute-sanitizer's tools instead
    tests/gpu/suite.py --gasell … --only 'bits|device'      checks whose name matches
    tests/gpu/suite.py --gasell … --device sim:2            a stand-in for GPUs, to try the suite itself

A line for each check; the exit status is 1 when one failed, 77 when the machine has no GPU. Inputs are random: `--seed` repeats a run. The times are those of
tests/bench/gpu.py, beside CuPy and JAX where `--python` has them."""

import argparse
import os
import re
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from checks import corpus, devices, sanitizer, values  # noqa: E402
from checks.common import Skipped, Target, Wrong  # noqa: E402

NO_GPU = 77

# Name, what it does, and whether --quick has it.
CHECKS = [
    ("devices found", devices.found, True),
    ("device names", devices.names, True),
    ("memory that nobody has", devices.too_large, True),
    ("interrupt of a long kernel", devices.interrupt, True),
    ("trace and profile", devices.trace, True),
    ("functions of random numbers", values.functions, True),
    ("exact operations on random numbers", values.exact, True),
    ("reductions of random arrays", values.reductions, True),
    ("same bits on any number of GPUs", values.same_bits, True),
    ("2 TB's script, smaller", values.two_terabytes, True),
    ("random programs", corpus.random_programs, True),
    ("short memory", devices.short_memory, True),
    ("language", corpus.language, True),
    ("language, split over GPUs", corpus.language_split, False),
    ("without NVIDIA's libraries", corpus.own_kernels, False),
    ("the driver's side", corpus.cuda_check, True),
    ("times", corpus.times, True),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", required=True)
    parser.add_argument("--device", default="gpu", help="gpu, or sim:N to try the suite without one")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--sanitizer", default="", help="compute-sanitizer, when it is neither in the path nor below /usr/local/cuda")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--no-times", action="store_true")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000_007)
    parser.add_argument("--cuda-check", default="", help="the cuda_check of a development build, which also loses a GPU on purpose")
    parser.add_argument("--python", default=sys.executable, help="a Python with CuPy and JAX, for the times")
    parser.add_argument("--out", help="folder of the times' results file")
    options = parser.parse_args()
    failed, skipped, started = [], [], time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        target = Target(options, folder)
        if target.real and not target.gpus:
            print(f"this machine has no GPU that gasell can use:\n{target.doctor}", end="")
            return NO_GPU
        print(f"{target.title}, seed {options.seed}", flush=True)
        checks = [(f"compute-sanitizer, {tool}", lambda t, tool=tool: sanitizer.check(t, tool), True) for tool in sanitizer.TOOLS] if options.sanitize else CHECKS
        for name, check, in_quick in checks:
            if (options.quick and not in_quick) or (options.no_times and name == "times") or not re.search(options.only, name):
                continue
            begin, detail = time.monotonic(), ""
            try:
                detail = check(target) or ""
                verdict = "ok"
            except Skipped as reason:
                verdict, detail = "skipped", str(reason)
                skipped.append(name)
            except Wrong as wrong:
                verdict, detail = "FAILED", f"\n{wrong}"
                failed.append(name)
            detail = detail if detail.startswith("\n") else f"  {detail}"
            print(f"{name:<36} {verdict:<8} {time.monotonic() - begin:6.1f} s{detail}".rstrip(), flush=True)
    print(f"{len(failed)} failed" + (f" ({', '.join(failed)})" if failed else "") + (f", {len(skipped)} skipped" if skipped else "") + f"; {time.monotonic() - started:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
