"""Random expressions of arrays under Gasell and under NumPy, compared number by number: what fuzz_transforms.py, fuzz_products.py and fuzz_solvers.py share."""

import argparse
import ast
import math
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = r'''
import numpy as np


def numbers(shape, dtype, seed):
    count = 1
    for n in shape:
        count *= n
    x = np.sin(np.arange(count) * (1.3 + seed)) * 3
    if np.dtype(dtype).kind == "c":
        x = x + 1j * np.cos(np.arange(count) * (0.7 + seed))
    if np.dtype(dtype).kind == "u":
        x = np.abs(x)
    return x.reshape(shape).astype(dtype)


def tried(k, work):
    try:
        r = np.asarray(work())
    except Exception as e:
        print([k, type(e).__name__])
        return
    flat = r.ravel()
    if flat.dtype.kind == "c":
        flat = flat.astype(np.complex128)
        print([k, str(r.dtype), list(r.shape), [repr(x) for x in flat.real.tolist()], [repr(x) for x in flat.imag.tolist()]])
    else:
        print([k, str(r.dtype), list(r.shape), [repr(x) for x in flat.tolist()], []])


'''


def answers(command, script):
    done = subprocess.run([*command, str(script)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed\n{done.stderr[-2000:]}")
    return {row[0]: row[1:] for row in map(ast.literal_eval, done.stdout.splitlines())}


def values(answer):
    parts = [[float(x) for x in part] if answer[0][0] in "fc" else part for part in answer[2:]]
    return parts[0] + parts[1]


def same(ours, peer, precision):
    """precision: by dtype, relative to the largest number, or to 1 where all are smaller; other dtypes must agree exactly."""
    if len(ours) != len(peer) or ours[:2] != peer[:2]:
        return False
    if len(peer) == 1:
        return True
    a, b = values(ours), values(peer)
    if peer[0] not in precision:
        return a == b
    largest = max((abs(x) for x in b if math.isfinite(x)), default=1)
    largest = max(largest, 1)
    return all(x == y or (x != x and y != y) or abs(x - y) <= precision[peer[0]] * largest for x, y in zip(a, b))


def compare(description, one, what, precision, imports=""):
    """one(random.Random) draws the text of an expression. Prints what differs and ends the process: 1 where something does, 77 without a peer that has
    the modules of `imports`, lines in front of the script."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--peer", default=str(ROOT / ".venv/bin/python"))
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    if subprocess.run([options.peer, "-c", "import numpy\n" + imports], capture_output=True, check=False).returncode:
        print("no peer with NumPy" + (" and SciPy" if imports else ""))
        sys.exit(77)
    draw = random.Random(options.seed)
    lines = [one(draw) for _ in range(options.count)]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "expressions.gsl"
        script.write_text(imports + SCRIPT + "\n".join(f"tried({k}, lambda: {line})" for k, line in enumerate(lines)) + "\n", encoding="utf-8")
        ours = answers([options.gasell, "--device", options.device], script)
        peer = answers([options.peer, "-W", "ignore"], script)
    wrong = [k for k in range(options.count) if not same(ours.get(k, []), peer[k], precision)]
    for k in wrong[:20]:
        print(f"{lines[k]}\n  Gasell {str(ours.get(k))[:200]}\n  NumPy  {str(peer[k])[:200]}")
    print(f"{options.count - len(wrong)} of {options.count} {what} agree")
    sys.exit(1 if wrong else 0)
