"""Devices from outside: names, memory, interrupts, traces."""

import json
import os
import re
import select
import signal
import time

from .common import Skipped, Wrong, shortened

INTERRUPT_S = 0.25

# Many seconds even on several GPUs; on the way in everything has been started and compiled once.
LONG = """
def numbers(n):
    return da.random.RandomState(1).normal(10, 1, size=(n, n)).sum().compute()
numbers(100)
print('started', flush=True)
try:
    print(numbers(3_000_000))
except KeyboardInterrupt:
    print('stopped', flush=True)
print(float(np.arange(1000.0).sum()), round(float(numbers(1000)) / 1e6, 1))
"""

# Kernels that never end: with an index that is checked, so that the launch is waited for; with nothing that can fail, so that who reads the result waits; in a
# parallel function; with threads that wait for the others. The last line tells that the GPU computes afterwards.
ENDLESS = {
    "a loop with checks": """
@cuda.jit
def turn(x, go):
    i = cuda.grid(1)
    while go[0] > 0:
        x[i] += 1
""",
    "nothing that can fail": """
@cuda.jit
def turn(x, go):
    i = cuda.threadIdx.x & 31
    k = 0
    while k >= 0:
        k = (k + 1) & 1023
    x[i] = k
""",
    "loops in loops": """
@cuda.jit
def turn(x, go):
    n = go.size * 3000000
    s = 0.0
    for i in range(n):
        for j in range(n):
            s += x[(i ^ j) & 31] * 0.5
    x[0] = s
""",
    "barriers": """
@cuda.jit
def turn(x, go):
    tile = cuda.shared.array(64, numba.float64)
    while go[0] > 0:
        tile[cuda.threadIdx.x] = x[cuda.threadIdx.x]
        cuda.syncthreads()
        x[cuda.threadIdx.x] = tile[63 - cuda.threadIdx.x]
        cuda.syncthreads()
""",
    "a parallel function": """
@numba.njit(parallel=True)
def loop(x, go):
    for i in numba.prange(x.size):
        while go[0] > 0:
            x[i] += 1
turn = {(1, 64): loop}
""",
}
ENDLESS_START = """
import numba
from numba import cuda
"""
ENDLESS_REST = """
x = np.ones(64)
go = np.ones(1)
print('started', flush=True)
try:
    turn[1, 64](x, go)
    print(x[0])
except KeyboardInterrupt:
    print('stopped', flush=True)
y = np.arange(1000.0)
@cuda.jit
def double(y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] *= 2
double[4, 256](y)
print(y.sum() / 2, float((np.ones(10) * 10).mean()))
"""

STREAMED = """
x = np.arange({n}) * 0.5
y = x * 2 + 1
z = (y[1:] - y[:-1]) * x[1:]
y[::2] = -1
print(x.sum(), y.sum(), z.sum(), z.max(), (y[::3] + 1).std(), y[{n} // 2 : {n} // 2 + 3])
"""


def found(target):
    if target.real and (bad := re.findall(r"^gpu:\d+ (?!.*sm_).*$", target.doctor, re.M)):
        raise Wrong(shortened("\n".join(bad)))
    return f"{len(target.gpus)} GPUs"


def names(target):
    n = len(target.gpus)
    cases = [("tpu", 2, "unknown device 'tpu'"), ("gpu:x", 2, "unknown device 'gpu:x'"), ("gpu:", 2, "unknown device"), ("gpu:0,0", 2, "names GPU 0 twice"), ("gpu:-1", 2, "unknown device"),
             ("sim:0", 2, "1 to 64 GPUs"), ("sim:65", 2, "1 to 64 GPUs"), ("gpu:99999999999999999999", 2, "unknown device")]
    if target.real:
        every = ",".join(str(k) for k in range(max(target.gpus) + 2))
        cases += [("gpu:99", 1, "there is no GPU 99"), (f"gpu:{every}", 1, f"there is no GPU {max(target.gpus) + 1}")]
    for device, status, message in cases:
        got, out, err = target.run("print(np.arange(3.0).sum())", device)
        if got != status or out or message not in err:
            raise Wrong(f"    {device}: status {got}, not {status} with {message!r}\n{shortened(out + err)}")
    inside = "with device('gpu:{}'):\n    x = np.arange(1000.0) * 2\nprint(x.sum())"
    for k in target.gpus:
        target.same(inside.format(k), target.all, "999000.0\n")
    status, out, err = target.run(inside.format(99), target.all)
    if status != 1 or out or "there is no GPU 99" not in err:
        raise Wrong(f"    with device('gpu:99'): status {status}\n{shortened(out + err)}")
    for device in ("auto", "cpu", target.all, *(target.first(k + 1) for k in range(n))):
        target.same("print(np.arange(3.0).sum())", device, "3.0\n")
    return f"{n} of {n} serve alone and together" if n > 1 else ""


def too_large(target):
    for text in ("x = np.cumsum(np.ones(10**14))\nprint(x[5])", "x = np.ones(10**14)\nx[1] = 2\nprint(x[0])", "print(np.ones(10**15).compute()[0])"):
        alive = f"try:\n{''.join(f'    {line}' + chr(10) for line in text.splitlines())}except MemoryError:\n    print('no memory', flush=True)\nprint(np.arange(100.0).sum())\n"
        target.same(alive, target.all, "no memory\n4950.0\n")
        status, out, err = target.run(text, target.all)
        if status != 1 or out or not re.search(r"^MemoryError: Unable to allocate .+", err, re.M) or "nternal" in err:
            raise Wrong(f"    status {status} of\n{shortened(text)}\n    with\n{shortened(out + err)}")


def interrupt(target):
    slowest = 0.0
    for device in dict.fromkeys((target.first(1), target.all)):
        for name, text in {"an expression": LONG, **{name: ENDLESS_START + text + ENDLESS_REST for name, text in ENDLESS.items()}}.items():
            slowest = max(slowest, interrupted(target, device, name, text))
    return f"{1e3 * slowest:.0f} ms"


def interrupted(target, device, name, text):
    """Seconds from the signal to the handler's output."""
    process = target.start(text, device)
    try:
        if process.stdout.readline() != "started\n":
            raise Wrong(f"    {name} on {device}\n{shortened(process.communicate(timeout=60)[1])}")
        time.sleep(1.5)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        if not select.select([process.stdout], [], [], 30)[0]:
            raise Wrong(f"    {name} on {device}: still running 30 s after SIGINT")
        line = process.stdout.readline()
        took = time.monotonic() - begin
        rest, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    if line != "stopped\n" or rest != "499500.0 10.0\n" or process.returncode:
        raise Wrong(f"    {name} on {device}: status {process.returncode}\n{shortened(line + rest + err)}")
    if took > INTERRUPT_S and target.real:
        raise Wrong(f"    {name} on {device}: it took {1e3 * took:.0f} ms, {1e3 * INTERRUPT_S:.0f} are allowed")
    return took


def trace(target):
    path = os.path.join(target.folder, "trace.json")
    text = "x = np.arange(2000000.0)\nnp.sort(x[::-1])\nprint((np.sort(x * 2 + 1) + x).sum())"
    status, out, err = target.run(text, target.all, "--trace", path, "--profile", GASELL_SPLIT_FROM="0")
    if status or out != "5999999000000.0\n":
        raise Wrong(f"    status {status}\n{shortened(out + err)}")
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    rows = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    for kind in ("kernels", "copies out"):
        there = {rows[e["pid"]] for e in events if e.get("cat") == kind}
        if missing := {f"gpu:{k}" for k in target.gpus} - there:
            raise Wrong(f"    the trace has no {kind} of {', '.join(sorted(missing))}")
    if not re.search(r"gpu:0 +\S+ +\d+ ", err):
        raise Wrong(f"    the profile has no line of gpu:0\n{shortened(err)}")


def short_memory(target):
    """Arrays larger than what the GPU has free."""
    if not target.real:
        text = STREAMED.format(n=3_000_000)
        target.same(text, "sim:1", target.output(text, "cpu"), GASELL_SIM_MEMORY="20MiB")
        return "20 MiB"
    if not (free := re.search(r"^gpu:0 .* ([\d.]+) GiB of [\d.]+ GiB free", target.doctor, re.M)):
        raise Skipped("the GPU has less than a GiB free")
    # Another process holds nearly all of it, and never brings it to the host, whatever the budget says.
    held = max(0.0, float(free[1]) - 4)
    elements = 200_000_000 if target.quick else 400_000_000
    text = f"parts = [np.arange({int(held * 2**30 / 64)}) * 0.5 for k in range(8)]\nfor part in parts:\n    part.compute()\nprint('held', flush=True)\nimport time\ntime.sleep(300)\n"
    holder = target.start(text, target.first(1), GASELL_MEMORY="1TiB")
    try:
        if not select.select([holder.stdout], [], [], 60)[0] or holder.stdout.readline() != "held\n":
            holder.kill()
            raise Skipped(f"{held:.0f} GiB cannot be held: {holder.communicate()[1].strip()[-200:]}")
        text = STREAMED.format(n=elements)
        right = target.output(text, "cpu")
        target.same(text, target.first(1), right, **target.poisoned)
    finally:
        holder.kill()
        holder.wait()
    return f"arrays of {elements * 8 / 2**30:.1f} GiB in about {float(free[1]) - held:.0f} GiB"
