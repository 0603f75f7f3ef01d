#!/usr/bin/env python3
"""Runs NPBench's kernels (github.com/spcl/npbench, BSD; not part of this repository) under Gasell, NumPy and Numba, and compares.

    tests/bench/npbench.py --npbench DIR --gasell build/release/bin/gasell --python PYTHON [--preset S] [NAMES…]

Every kernel's text is NPBench's own: its NumPy file and its Numba variants (`_numba_n`, `_numba_np`, `_numba_npr`: serial, parallel, with prange),
unchanged, between lines that load the arguments and call it. Inputs are made once by NPBench's `initialize` and loaded by all. Results are compared with
NumPy's by NPBench's own measure (relative error of the norm, 1e-5), then the calls are timed: the first, and the fastest of the others.

Where NPBench names no outputs and nothing is returned, all arrays among the arguments are compared.

With --results FILE the table is written as Markdown, and behind it what has no time, with the reason. Exit status: 0 when every result that there is agrees.
"""

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

VARIANTS = ["numpy", "numba_n", "numba_np", "numba_npr"]
# What NPBench's Numba variants need and Gasell's texts lack is nothing: one driver serves both.
DRIVER = """
import sys as _sys
import time as _time
import numpy as _np
{load}
def _again():
    return [{copies}]
_times = []
_spent = 0.0
while len(_times) < {least} or (_spent < {seconds} and len(_times) < 50):
    _a = _again()
    _t = _time.perf_counter()
    _r = {function}(*_a)
    {force}
    _d = _time.perf_counter() - _t
    _times.append(_d)
    _spent += _d
{save}
print("TIMES", *_times)
"""
INITIALIZE = """
import importlib.util, json, pathlib, sys
import numpy as np
source, names, function, parameters, folder = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4]), pathlib.Path(sys.argv[5])
values = dict(parameters)
if function:
    spec = importlib.util.spec_from_file_location("initialize", source)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    info = json.loads(sys.argv[6])
    made = getattr(module, function)(*[values[n] for n in info["input_args"]])
    made = made if isinstance(made, tuple) else (made,)
    values.update(zip(info["output_args"], made))
described = {}
for name in names:
    v = values[name]
    if isinstance(v, np.ndarray) and v.ndim > 0:
        np.save(folder / f"{name}.npy", v)
        described[name] = None
    else:
        described[name] = repr(v.item() if isinstance(v, (np.generic, np.ndarray)) else v)
print(json.dumps(described))
"""
COMPARE = """
import pathlib, sys
import numpy as np
a, b, outputs = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
worst = 0.0
for name in outputs:
    x, y = np.load(a / f"{name}.npy"), np.load(b / f"{name}.npy")
    if x.shape != y.shape:
        print(f"shapes of {name}: {x.shape} and {y.shape}")
        sys.exit(1)
    x, y = x.astype(np.complex128).ravel(), y.astype(np.complex128).ravel()
    whole = np.linalg.norm(np.nan_to_num(x))
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    error = np.linalg.norm(np.where(same, 0, x) - np.where(same, 0, y)) / (whole or 1.0)
    worst = max(worst, float(error)) if error == error else float("inf")
print(worst)
sys.exit(0 if worst <= 1e-5 else 1)
"""


def variant_file(folder, module, variant):
    path = folder / f"{module}_{variant}.py"
    return path if path.exists() else None


def write_script(path, text, info, arguments, data, out, gasell, seconds):
    loads, copies = [], []
    for name in info["input_args"]:
        if arguments[name] is None:
            loads.append(f"_in_{name} = _np.load({str(data / (name + '.npy'))!r})")
            copies.append(f"_in_{name}.copy()" if name in info["array_args"] else f"_in_{name}")
        else:
            loads.append(f"_in_{name} = {arguments[name]}")
            copies.append(f"_in_{name}")
    # What a function changes where NPBench does not say: any array, of those that return nothing.
    compared = info["output_args"] or info["array_args"]
    arrays = [(k, n) for k, n in enumerate(info["input_args"]) if arguments[n] is None and n in compared]
    where = "" if info["output_args"] else "if _r is None: "
    # A lazy result is computed within the time.
    force = "pass"
    if gasell:
        force = "_f = [_np.asarray(_x) for _x in (_r if isinstance(_r, tuple) else (_r,)) if _x is not None]"
        if arrays:
            force += f"\n    {where}_f = [{', '.join(f'_np.asarray(_a[{k}])' for k, n in arrays)}]"
    save = [f"{where}_np.save({str(out / (n + '.npy'))!r}, _a[{k}])" for k, n in arrays]
    save.append("_rs = _r if isinstance(_r, tuple) else (_r,)")
    save.append(f"for _k, _x in enumerate(_rs):\n    if _x is not None:\n        _np.save({str(out)!r} + '/returned' + str(_k) + '.npy', _np.asarray(_x))")
    driver = DRIVER.format(load="\n".join(loads), copies=", ".join(copies), function=info["func_name"], force=force, save="\n".join(save), least=3 if seconds else 1, seconds=seconds)
    path.write_text(text + driver)


def run(command, script, timeout):
    try:
        done = subprocess.run([*command, str(script)], capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None, f"more than {timeout} s"
    lines = [line for line in done.stdout.splitlines() if line.startswith("TIMES")]
    if done.returncode or not lines:
        error = [line for line in (done.stderr + done.stdout).splitlines() if re.match(r"\w+(\.\w+)*: ", line) and not line.startswith("hint")]
        return None, (error[-1] if error else "no output")[:160]
    times = [float(t) for t in lines[-1].split()[1:]]
    return (times[0], min(times[1:] or times)), None


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--npbench", type=Path, required=True, help="a checkout of NPBench")
    parser.add_argument("--gasell", required=True)
    parser.add_argument("--python", default=sys.executable, help="a Python with NumPy and Numba (default: this one)")
    parser.add_argument("--preset", default="S", choices=["S", "M", "L", "paper"])
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each is timed; 0: run once, only compare")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--variants", default="numpy,numba_n,numba_np,numba_npr")
    parser.add_argument("--no-numba", action="store_true", help="do not run the peers' Numba")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--keep", type=Path, help="keep scripts and data in this folder")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    failures, rows = 0, []
    wanted = options.variants.split(",")
    for path in sorted((options.npbench / "bench_info").glob("*.json")):
        info = json.loads(path.read_text())["benchmark"]
        module = info["module_name"]
        if options.names and module not in options.names and info["short_name"] not in options.names:
            continue
        folder = options.npbench / "npbench" / "benchmarks" / info["relative_path"]
        with tempfile.TemporaryDirectory() as temporary:
            place = options.keep / module if options.keep else Path(temporary)
            place.mkdir(parents=True, exist_ok=True)
            data = place / "data"
            data.mkdir(exist_ok=True)
            init = info.get("init") or {}
            parameters = info["parameters"][options.preset]
            made = subprocess.run([options.python, "-c", INITIALIZE, str(folder / f"{module}.py"), json.dumps(info["input_args"]), init.get("func_name", ""), json.dumps(parameters), str(data),
                                   json.dumps(init)], capture_output=True, text=True)
            if made.returncode:
                print(f"{module}: initialize: {made.stderr.strip().splitlines()[-1]}")
                failures += 1
                continue
            arguments = json.loads(made.stdout.splitlines()[-1])
            row = {"name": module}
            for variant in wanted:
                file = variant_file(folder, module, variant)
                if not file:
                    continue
                text = file.read_text()
                peer_out, our_out = place / f"peer_{variant}", place / f"gasell_{variant}"
                for o in (peer_out, our_out):
                    o.mkdir(exist_ok=True)
                script = place / f"run_{variant}.py"
                if variant == "numpy" or not options.no_numba:
                    write_script(script, text, info, arguments, data, peer_out, False, options.seconds)
                    row[f"peer {variant}"] = run([options.python, "-W", "ignore"], script, options.timeout)
                gsl = place / f"run_{variant}.gsl"
                write_script(gsl, text, info, arguments, data, our_out, True, options.seconds)
                times, error = run([options.gasell], gsl, options.timeout)
                if times and row.get("peer numpy", (None,))[0]:
                    names = sorted(p.stem for p in (place / "peer_numpy").glob("*.npy") if (our_out / p.name).exists())  # some variants return nothing
                    compared = subprocess.run([options.python, "-c", COMPARE, str(place / "peer_numpy"), str(our_out), *names], capture_output=True, text=True)
                    if compared.returncode:
                        times, error = None, "differs: " + (compared.stdout.strip() or compared.stderr.strip().splitlines()[-1])
                    elif not names:
                        times, error = None, "gives none of NumPy's results"
                elif times:
                    times, error = None, "nothing to compare with: NumPy " + row.get("peer numpy", (None, "did not run"))[1]
                row[f"gasell {variant}"] = (times, error)
                failures += times is None
                show = lambda r: f"{r[0][0]*1e3:9.1f} {r[0][1]*1e3:9.2f}" if r and r[0] else f"{'-':>19}"
                print(f"{module:24} {variant:10} peer {show(row.get(f'peer {variant}'))}   gasell {show((times, error))} ms  {error or ''}", flush=True)
            rows.append(row)
    summarise(rows, wanted, options)
    sys.exit(1 if failures else 0)


def best(row, who, variants):
    times = [(row[f"{who} {v}"][0][1], row[f"{who} {v}"][0][0]) for v in variants if row.get(f"{who} {v}") and row[f"{who} {v}"][0]]
    return min(times) if times else None


def summarise(rows, wanted, options):
    numba = [v for v in wanted if v != "numpy"]
    ratios, firsts, against_numpy, lines = [], [], [], []
    for row in rows:
        ours, theirs, numpy = best(row, "gasell", wanted), best(row, "peer", numba), best(row, "peer", ["numpy"])
        if ours and theirs:
            ratios.append(theirs[0] / ours[0])
            firsts.append(theirs[1] / ours[1])
        if ours and numpy:
            against_numpy.append(numpy[0] / ours[0])
        ms = lambda t: f"{t * 1e3:.2f}" if t is not None else "-"
        lines.append(f"| {row['name']} | {ms(numpy and numpy[0])} | {ms(theirs and theirs[0])} | {ms(ours and ours[0])} | {f'{theirs[0] / ours[0]:.2f}' if ours and theirs else '-'} | "
                     f"{ms(theirs and theirs[1])} | {ms(ours and ours[1])} |")
    without = [f"- {row['name']}, {v}: {row[f'gasell {v}'][1]}" for row in rows for v in wanted if row.get(f"gasell {v}") and not row[f"gasell {v}"][0]]
    if without:
        without = ["", "Without a time:", *without]
    table = ["| kernel | NumPy ms | best Numba ms | Gasell ms | Numba / Gasell | Numba first ms | Gasell first ms |", "|---|---|---|---|---|---|---|", *lines]
    mean = (f"geometric means over {len(ratios)} kernels: Numba / Gasell {geometric_mean(ratios):.2f}, first call {geometric_mean(firsts):.2f}; "
            f"NumPy / Gasell {geometric_mean(against_numpy):.2f} over {len(against_numpy)}")
    print(mean)
    if options.results:
        options.results.write_text(f"# NPBench, preset {options.preset}\n\n`tests/bench/npbench.py --preset {options.preset}` on two cores; {mean}.\n\n" + "\n".join([*table, *without]) + "\n")


if __name__ == "__main__":
    main()
