#!/usr/bin/env python3
"""Random Fourier transforms under Gasell and under NumPy: shapes, axes, lengths, norms, dtypes, views.

  tests/fuzz/fuzz_transforms.py [--gasell build/dev/bin/gasell] [--peer PYTHON] [--count 500] [--seed 0] [--device sim:1]

Both run the same script, which prints for each transform its dtype, shape and numbers, or the error. Numbers may differ by rounding: 1e-13 (float32: 1e-5) of the largest. Exit status 1 where something else differs, 77 without a peer.
"""

import argparse
import ast
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
    return x.reshape(shape).astype(dtype)


def tried(k, work):
    try:
        r = np.asarray(work())
    except Exception as e:
        print([k, type(e).__name__])
        return
    flat = r.ravel().astype(np.complex128)
    print([k, str(r.dtype), list(r.shape), flat.real.tolist(), flat.imag.tolist()])


'''
LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 23, 27, 32, 37, 49, 60, 64, 77, 97, 100, 121, 128]
LONG = [1009, 1024, 2000, 4099, 32768, 33075, 40009, 65536]
DTYPES = ["float64"] * 3 + ["complex128"] * 3 + ["float32", "complex64", "int32", "bool", "uint8"]


def one(draw, k):
    several = draw.random() < 0.4
    rank = draw.choice([1, 1, 2, 2, 3]) if not several else draw.choice([2, 2, 3])
    shape = [draw.choice(LENGTHS[:14] if rank > 1 else LENGTHS) for _ in range(rank)]
    if draw.random() < 0.05:
        shape = [draw.choice(LONG)] + ([2] if draw.random() < 0.3 else [])
        rank, several = len(shape), False
    dtype = draw.choice(DTYPES)
    x = f"numbers({tuple(shape)}, {dtype!r}, {draw.randrange(5)})"
    view = draw.random()
    if view < 0.15:
        x += ".T"
    elif view < 0.3:
        x += "[" + ", ".join(draw.choice([":", "::-1", "::2", ":"]) for _ in range(rank)) + "]"
    norm = draw.choice(["None", "'ortho'", "'forward'", "'backward'"])
    if several:
        name = draw.choice(["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"])
        axes = draw.sample(range(-rank, rank), 2) if draw.random() < 0.6 else None
        if axes and draw.random() < 0.4:
            call = f"np.fft.{name}({x}, s={tuple(draw.choice(LENGTHS[:14]) for _ in axes)}, axes={tuple(axes)}, norm={norm})"
        else:
            call = f"np.fft.{name}({x}, norm={norm}{f', axes={tuple(axes)}' if axes else ''})"
    else:
        name = draw.choice(["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
        length = draw.choice([0] + LENGTHS) if draw.random() < 0.3 else None
        call = f"np.fft.{name}({x}, {length}, {draw.randrange(-rank, rank)}, {norm})"
    return f"tried({k}, lambda: {call})"


def answers(command, script):
    done = subprocess.run([*command, str(script)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed\n{done.stderr[-2000:]}")
    return {row[0]: row[1:] for row in map(ast.literal_eval, done.stdout.splitlines())}


def same(ours, peer):
    if len(ours) != len(peer) or ours[:2] != peer[:2]:
        return False
    if len(peer) == 1:
        return True
    a, b = ([complex(*z) for z in zip(v[2], v[3])] for v in (ours, peer))
    precision = {"float32": 1e-5, "complex64": 1e-5}.get(peer[0], 1e-13)
    largest = max(map(abs, b), default=0)
    return all(abs(x - y) <= precision * largest for x, y in zip(a, b))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--peer", default=str(ROOT / ".venv/bin/python"))
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    if subprocess.run([options.peer, "-c", "import numpy"], capture_output=True, check=False).returncode:
        print("no peer with NumPy")
        sys.exit(77)
    draw = random.Random(options.seed)
    lines = [one(draw, k) for k in range(options.count)]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "transforms.gsl"
        script.write_text(SCRIPT + "\n".join(lines) + "\n", encoding="utf-8")
        ours = answers([options.gasell, "--device", options.device], script)
        peer = answers([options.peer, "-W", "ignore"], script)
    wrong = [k for k in range(options.count) if not same(ours.get(k, []), peer[k])]
    for k in wrong[:20]:
        print(f"{lines[k]}\n  Gasell {str(ours.get(k))[:200]}\n  NumPy  {str(peer[k])[:200]}")
    print(f"{options.count - len(wrong)} of {options.count} transforms agree")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
