#!/usr/bin/env python3
"""Times Gasell on a GPU beside CuPy and JAX in the same run, checks the results of all three against Gasell's on the host, and writes results/<gpu>.md.

    tests/bench/gpu.py --gasell build/release/bin/gasell            every case
    tests/bench/gpu.py sum std                                      cases whose name contains one of these

It needs a Python with CuPy (and JAX, where it is to be compared); install them as their documentation says for the machine's driver. Inputs lie on the GPU; a
time is that of one evaluation with its result left there, after the first. The ceilings are measured at the start."""

import argparse
import datetime
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
from harness.report import duration, markdown_table, text_table  # noqa: E402

N = 2**29  # 4 GiB of float64
X = f"x = np.arange({N}) * 0.6180339887498949 % 1.0"
M = "m = (np.arange(400000000) * 0.6180339887498949 % 1.0).reshape(20000, 20000)"
AB = f"a = np.arange({N // 2}) * 0.6180339887498949 % 1.0\nb = np.arange({N // 2}) * 0.41421356237309515 % 1.0"
BYTES = "u = (np.arange(2000000000) * 7919 % 251).astype(np.uint8)"
MASK = "b = np.arange(500000000) * 0.6180339887498949 % 1.0 > 0.5"


def matrix(rows, columns, dtype=""):
    return f"m = (np.arange({rows * columns}) * 0.6180339887498949 % 1.0).reshape({rows}, {columns}){dtype and f'.astype(np.{dtype})'}"


# name: (title, inputs, expression, whether the result is a number, bytes read, bytes written)
CASES = {
    "sincos": ("sin(x)**2 + cos(x)**2, f64, 4 GiB", X, "np.sin(x)**2 + np.cos(x)**2", False, 8 * N, 8 * N),
    "exp_log": ("exp(-x)*log(x + 1), f64, 4 GiB", X, "np.exp(-x) * np.log(x + 1)", False, 8 * N, 8 * N),
    "muladd": ("a*b + 1.5, f64, 2 GiB each", AB, "a * b + 1.5", False, 8 * N, 4 * N),
    "chain": ("sqrt(a*a + b*b)*2 - a, f64, 2 GiB each", AB, "np.sqrt(a * a + b * b) * 2 - a", False, 8 * N, 4 * N),
    "float32": ("f*2 + 1, f32, 2 GiB", f"f = (np.arange({N}) * 0.6180339887498949 % 1.0).astype(np.float32)", "f * 2 + 1", False, 4 * N, 4 * N),
    "sum": ("x.sum(), f64, 4 GiB", X, "x.sum()", True, 8 * N, 0),
    "fused_sum": ("(x*2 + 1).sum(), f64, 4 GiB", X, "(x * 2 + 1).sum()", True, 8 * N, 0),
    "std": ("x.std(), f64, 4 GiB", X, "x.std()", True, 8 * N, 0),
    "argmax": ("x.argmax(), f64, 4 GiB", X, "x.argmax()", True, 8 * N, 0),
    "axis0": ("m.sum(axis=0), f64, 20000x20000", M, "m.sum(axis=0)", False, 3200000000, 160000),
    "axis1": ("m.sum(axis=1), f64, 20000x20000", M, "m.sum(axis=1)", False, 3200000000, 160000),
    "stencil": ("3x3 mean by slices, f64, 20000x20000", M,
                "(m[:-2, :-2] + m[:-2, 1:-1] + m[:-2, 2:] + m[1:-1, :-2] + m[1:-1, 1:-1] + m[1:-1, 2:] + m[2:, :-2] + m[2:, 1:-1] + m[2:, 2:]) / 9",
                False, 3200000000, 19998 * 19998 * 8),
    "rows_sum": ("m.sum(axis=1), f64, 1000000x100", matrix(1000000, 100), "m.sum(axis=1)", False, 800000000, 8000000),
    "rows_std": ("m.std(axis=1), f64, 1000000x100", matrix(1000000, 100), "m.std(axis=1)", False, 800000000, 8000000),
    "rows_argmax": ("m.argmax(axis=1), f64, 1000000x100", matrix(1000000, 100), "m.argmax(axis=1)", False, 800000000, 8000000),
    "rows_of_40": ("m.sum(axis=1), f64, 2000000x40", matrix(2000000, 40), "m.sum(axis=1)", False, 640000000, 16000000),
    "rows_of_40_std": ("m.std(axis=1), f32, 2000000x40", matrix(2000000, 40, "float32"), "m.std(axis=1)", False, 320000000, 8000000),
    "columns_of_4": ("m.sum(axis=0), f64, 50000000x4", matrix(50000000, 4), "m.sum(axis=0)", False, 1600000000, 32),
    "columns_of_10": ("m.sum(axis=0), f64, 20000000x10", matrix(20000000, 10), "m.sum(axis=0)", False, 1600000000, 80),
    "columns_of_40": ("m.sum(axis=0), f64, 2000000x40", matrix(2000000, 40), "m.sum(axis=0)", False, 640000000, 320),
    "bytes": ("u + 1, u8, 2e9", BYTES, "u + np.uint8(1)", False, 2000000000, 2000000000),
    "bytes_sum": ("u.sum(), u8, 2e9", BYTES, "u.sum()", True, 2000000000, 0),
    "bytes_max": ("u.max(), u8, 2e9", BYTES, "u.max()", True, 2000000000, 0),
    "bytes_mean": ("u.mean(), u8, 2e9", BYTES, "u.mean()", True, 2000000000, 0),
    "bytes_scaled": ("u.astype(f32) / 255, u8, 2e9", BYTES, "u.astype(np.float32) / np.float32(255)", False, 2000000000, 8000000000),
    "mask_sum": ("b.sum(), bool, 5e8", MASK, "b.sum()", True, 500000000, 0),
    "transpose": ("m.T + 1, f64, 20000x20000", M, "m.T + 1", False, 3200000000, 3200000000),
}

PROLOGUE = {
    "gasell": "import time\nimport numpy as np\n{inputs}\n{forced}\n",
    "cupy": "import time\nimport cupy as np\n{inputs}\nnp.cuda.Device().synchronize()\n",
    "jax": "import os\nos.environ['XLA_PYTHON_CLIENT_PREALLOCATE'] = 'false'\nimport time\nimport jax\njax.config.update('jax_enable_x64', True)\n"
           "import jax.numpy as np\n{inputs}\n",
}
# Gasell's results on the host and on a GPU are the same but for functions; the peers add in another order.
TOLERANCE, PEERS_TOLERANCE = 1e-12, 1e-9
TIMED = """
def evaluate():
    {evaluate}
start = time.perf_counter()
result = evaluate()
first = time.perf_counter() - start
best = 1e99
for _ in range({repeat}):
    result = None
    start = time.perf_counter()
    result = evaluate()
    best = min(best, time.perf_counter() - start)
{check}
print(first, best)
"""


def evaluation(program, inputs, expression, scalar):
    if program == "gasell":
        return "return float(" + expression + ")" if scalar else "return (" + expression + ").compute()"
    if program == "cupy":
        return "return float(" + expression + ")" if scalar else "r = " + expression + "; np.cuda.Device().synchronize(); return r"
    arguments = ", ".join(re.findall(r"^(\w) =", inputs, re.M))
    return f"return float(compiled({arguments}))" if scalar else f"return compiled({arguments}).block_until_ready()"


def program_text(program, case, repeat, with_check):
    title, inputs, expression, scalar, _, _ = case
    names = re.findall(r"^(\w) =", inputs, re.M)
    text = PROLOGUE[program].format(inputs=inputs, forced="\n".join(f"{name}.compute()" for name in names))
    if program == "jax":
        text += f"compiled = jax.jit(lambda {', '.join(names)}: {expression})\n"
    # Numbers that any wrong element would change, or nearly any: all elements in two sums, and some one by one.
    check = ("print(result)" if scalar else
             "flat = result.reshape(-1).astype(np.float64)\n"
             "print(float(flat.sum()), float((flat * (np.arange(flat.size) % 1021)).sum()), float(flat[0]), float(flat[flat.size // 3]), float(flat[-1]))")
    return text + TIMED.format(evaluate=evaluation(program, inputs, expression, scalar), repeat=repeat, check=check if with_check else "")


def run(command, text, environment=None, timeout=600):
    done = subprocess.run([*command, "-c", text], capture_output=True, text=True, timeout=timeout, env={**os.environ, **(environment or {})})
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        raise RuntimeError(lines[-1][:160])
    lines = done.stdout.split("\n")
    return [float(number) for number in lines[0].split()] if len(lines) > 2 else [], [float(number) for number in lines[-2].split()]


CEILINGS = r"""
import cupy as cp
n = 2**29
a, b = cp.random.random(n), cp.empty(n)
read = cp.RawKernel('''extern "C" __global__ void read(const double2* x, double* out, long long n) {
  double s = 0;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += 4ll * gridDim.x * blockDim.x) {
    double2 v[4];
    for (int k = 0; k < 4; ++k) { long long j = i + k * (long long)gridDim.x * blockDim.x; v[k] = j < n ? x[j] : double2{0, 0}; }
    for (int k = 0; k < 4; ++k) s += v[k].x + v[k].y;
  }
  if (s == 1e300) out[0] = s;
}''', 'read')
def best(f):
    f(); t = []
    for _ in range(10):
        s, e = cp.cuda.Event(), cp.cuda.Event(); s.record(); f(); e.record(); e.synchronize(); t.append(cp.cuda.get_elapsed_time(s, e) / 1e3)
    return min(t)
copying = best(lambda: cp.cuda.runtime.memcpyAsync(b.data.ptr, a.data.ptr, a.nbytes, 3, 0))
reading = best(lambda: read((132 * 8,), (256,), (a, b, n // 2)))
print(a.nbytes / reading, 2 * a.nbytes / copying)
"""


def ceilings(python):
    try:
        done = subprocess.run([python, "-c", CEILINGS], capture_output=True, text=True, timeout=300, check=True)
        return [float(number) for number in done.stdout.split()]
    except (subprocess.SubprocessError, OSError, ValueError):
        return None


def gpu_name(gasell):
    lines = [line for line in subprocess.run([gasell, "doctor"], capture_output=True, text=True).stdout.splitlines() if line.startswith("gpu:0")]
    return lines[0].split(None, 1)[1] if lines else "no GPU"


def wrong(got, expected, tolerance):
    if len(got) != len(expected):
        return "no check"
    worst = max(abs(a - b) / max(abs(a), abs(b), 1e-300) for a, b in zip(got, expected))
    return "" if worst <= tolerance else f"differs from the host by {worst:.1g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--gasell", default=os.path.join(ROOT, "build/release/bin/gasell"))
    parser.add_argument("--python", default=sys.executable, help="a Python with CuPy and JAX")
    parser.add_argument("--peers", nargs="*", default=["cupy", "jax"])
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--no-check", action="store_true", help="leave the comparison with the host out")
    parser.add_argument("--out", help="folder of the results file")
    options = parser.parse_args()
    name = gpu_name(options.gasell)
    rates = ceilings(options.python)
    print(f"{name}; ceilings: " + (f"read {rates[0] / 1e12:.2f} TB/s, copy {rates[1] / 1e12:.2f} TB/s" if rates else "not measured"), flush=True)
    header = ["case", "gasell", *options.peers, "best peer / gasell", "floor", "% of floor", "first call", "check"]
    rows = []
    for key, case in CASES.items():
        if options.cases and not any(part in key for part in options.cases):
            continue
        title, _, _, _, read, written = case
        times, check, first, expected, marks = {}, "", None, None, {}
        try:
            got, (first, times["gasell"]) = run([options.gasell, "--device", "gpu"], program_text("gasell", case, options.repeat, True), {"GASELL_CACHE": "0"})
            if not options.no_check:
                expected, _ = run([options.gasell, "--device", "cpu"], program_text("gasell", case, 0, True))
                check = wrong(got, expected, 0 if key == "argmax" else TOLERANCE) or "same"
        except (RuntimeError, subprocess.SubprocessError) as error:
            check = str(error)
        for peer in options.peers:
            try:
                got, (_, time) = run([options.python], program_text(peer, case, options.repeat, expected is not None))
            except (RuntimeError, subprocess.SubprocessError) as error:
                print(f"{key}: {peer}: {error}", file=sys.stderr)
                continue
            times[peer], marks[peer] = time, ""
            if expected is not None and (problem := wrong(got, expected, 0 if key == "argmax" else PEERS_TOLERANCE)):
                print(f"{key}: the result of {peer} {problem}", file=sys.stderr)
                marks[peer] = " (wrong)"
        floor = (read + written) / rates[1 if written > read / 100 else 0] if rates else None
        ours, others = times.get("gasell"), [times[peer] for peer in options.peers if marks.get(peer) == ""]
        rows.append([title, duration(ours), *((duration(times.get(peer)) or "–") + marks.get(peer, "") for peer in options.peers), f"{min(others) / ours:.2f}" if ours and others else "",
                     duration(floor), f"{100 * floor / ours:.0f} %" if floor and ours else "", duration(first), check])
        print(text_table(header, [rows[-1]]).splitlines()[-1], flush=True)
    print(text_table(header, rows))
    if not options.cases:
        folder = options.out or os.path.join(HERE, "results")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, re.sub(r"[^a-z0-9]+", "-", name.split(",")[0].lower()).strip("-") + ".md")
        facts = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "GPU": name,
                 "ceilings": f"read {rates[0] / 1e12:.2f} TB/s, copy (read and written together) {rates[1] / 1e12:.2f} TB/s" if rates else "not measured"}
        with open(path, "w", encoding="utf-8") as file:
            file.write("# Benchmark results on a GPU\n\nMade by `tests/bench/gpu.py`, which says how to repeat it and what is timed. A peer marked as wrong gave another result "
                       "than Gasell on the host.\n\n")
            file.write("".join(f"- {key}: {value}\n" for key, value in facts.items()) + "\n" + markdown_table(header, rows) + "\n")
        print(f"written: {path}")
    return 0 if all(row[-1] in ("same", "") for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
