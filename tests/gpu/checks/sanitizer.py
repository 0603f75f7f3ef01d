"""A part of the suite under compute-sanitizer: programs that use each kind of kernel, small ones, with plain allocations so that it sees their borders."""

import glob
import os
import re
import shutil

from .common import Skipped, Wrong, shortened
from .corpus import language_suite

TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
CLEAN = re.compile(r"ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards")

PROGRAMS = {
    "elementwise": """
for dtype in ('float64', 'float32', 'int64', 'int32', 'uint8', 'bool', 'complex128'):
    x = (np.arange(10007) % 251).astype(dtype)
    y = x[::-1] + x
    print(dtype, y[:3], (y != x).sum(), np.where(y == x, y, x)[5:8])
x = np.arange(10007.0) / 10007
print(abs(np.sin(x) ** 2 + np.cos(x) ** 2 - 1).max() < 1e-15, abs(np.exp(np.log1p(x)) - x - 1).max() < 1e-14)
""",
    "reductions": """
m = (np.arange(300 * 257.0) % 1000).reshape(300, 257)
print(m.sum(), m.std(), m.argmax(), m.min(), m.any(), (m > 500).sum())
print(m.sum(axis=0)[:5], m.mean(axis=1)[-5:], m.max(axis=0)[::100], m.argmin(axis=1)[:5], m.T.sum(axis=0)[:3])
print(m.reshape(20, 15, 257).sum(axis=1)[3, :4], m.astype('float32').sum(), m.astype('int32').prod(axis=0)[:2], np.array([1.5]).sum())
""",
    "views and writes": """
a = np.zeros((211, 307))
a[1:-1, 1:-1] = np.arange(209 * 305.0).reshape(209, 305) % 97
for step in range(4):
    a[1:-1, 1:-1] = (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]) * 0.25
print(a.sum(), a[100, ::50], a.T[3, ::40])
b = np.concatenate([a[::2], a[::-3]])
b[:, ::7] = -1
b[3] += a[5]
print(b.shape, b.sum(), np.broadcast_to(b[0], (4, 307)).sum(axis=0)[:3])
""",
    "random numbers": """
r = np.random.default_rng(5)
print(r.random(5001).sum(), r.normal(10, 1, 5001).std(), r.integers(0, 100, 5001).sum())
print(da.random.RandomState(3).normal(10, 1, size=(1000, 1000))[::2, ::2].sum().compute())
""",
}


def sanitizer(target):
    named = target.options.sanitizer
    for path in [named] if named else [shutil.which("compute-sanitizer"), *sorted(glob.glob("/usr/local/cuda*/bin/compute-sanitizer")), "/usr/local/cuda/compute-sanitizer/compute-sanitizer"]:
        if path and os.path.exists(path):
            return path
    raise Skipped("compute-sanitizer is not found; --sanitizer PATH says where it is")


def check(target, tool):
    program = sanitizer(target)
    logs = os.path.join(target.folder, tool)
    os.makedirs(logs)
    command = [program, "--tool", tool, "--error-exitcode", "86", "--check-exit-code", "no", "--print-limit", "20", "--log-file", os.path.join(logs, "%p.log")]
    plain = {"GASELL_GPU_POOLS": "0"}
    problems = []
    for name, text in PROGRAMS.items():
        for device, changes in [(target.first(1), {}), (target.all, {"GASELL_SPLIT_FROM": "0"})][: min(2, len(target.gpus))]:
            status, out, err = target.run(text, device, prefix=command, timeout=200, **plain, **changes)
            if status or err or out != target.output(text, "cpu"):
                problems.append(f"    {name} on {device}: status {status}\n{shortened(out + err)}")
    try:
        passed = language_suite(target, f"GASELL_DEVICE={target.first(1)}", "GASELL_GPU_POOLS=0", prefix=" ".join(command), only=r"^arrays/(views|broadcasting)\.gsl" if target.quick else
                                r"^arrays/(views|broadcasting|reductions|promotion|assignment_numbers|selecting)\.gsl")
    except Wrong as wrong:
        problems.append(str(wrong))
        passed = ""
    found = sorted(glob.glob(os.path.join(logs, "*.log")))
    for path in found:
        with open(path, encoding="utf-8", errors="replace") as file:
            log = file.read()
        if not CLEAN.search(log):
            problems.append(shortened(log))
    if not found:
        problems.append("    it wrote no log")
    if problems:
        raise Wrong("\n".join(problems[:10]) + (f"\n    … {len(problems) - 10} problems more" if len(problems) > 10 else ""))
    return f"{len(found)} runs; language: {passed}"
