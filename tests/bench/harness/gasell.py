"""The script that times a case inside one gasell process, and its run."""

import os
import subprocess
import time

SCRIPT = """\
import time
import numpy as np
{program}
{loads}
def evaluate():
    return {expression}

start = time.perf_counter()
result = evaluate()
first = time.perf_counter() - start
np.save('{folder}/out_gasell.npy', result)
best = 1e99
began = time.perf_counter()
count = 0
while count < 3 or time.perf_counter() - began < {seconds}:
    start = time.perf_counter()
    for _ in range({inner}):
        result = evaluate()
    best = min(best, time.perf_counter() - start)
    count += 1
    result = None
print(first, best / {inner})
"""


def script(case, folder, seconds, size):
    names = sorted(name[3:-4] for name in os.listdir(folder) if name.startswith("in_"))
    text = (case.gasell or case.expression).replace("SIZE", str(size))
    # A lazy result must be computed before the clock is read.
    forced = f"float({text})" if case.scalar else f"({text}).compute()"
    copied = "" if case.mapped else ".copy().compute()"
    return SCRIPT.format(loads="".join(f"{name} = np.load('{folder}/in_{name}.npy'){copied}\n" for name in names), program=case.program or "", expression=forced, folder=folder,
                         seconds=seconds, inner=case.inner)


class Failed(Exception):
    pass


def run(program, arguments, environment=None, timeout=1800):
    """Output and seconds of a process."""
    start = time.perf_counter()
    process = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise Failed(f"no answer within {timeout} s") from None
    seconds = time.perf_counter() - start
    if process.returncode != 0:
        lines = err.strip().splitlines() or [f"exit status {process.returncode}"]
        raise Failed(next((line for line in reversed(lines) if "Error" in line), lines[-1])[:200])
    return out, seconds


def measure(program, case, folder, seconds, size, memory):
    path = os.path.join(folder, "case.gsl")
    with open(path, "w", encoding="utf-8") as file:
        file.write(script(case, folder, seconds, size))
    # Without the kernel cache, so that the first call is a cold one.
    arguments = ["--memory", memory] if memory else []
    out, _ = run(program, [*arguments, path], {"GASELL_CACHE": "0"})
    first, best = out.split()
    return {"first": float(first), "best": float(best)}
