#!/usr/bin/env python3
"""Draws the scripts of examples/pictures with Gasell and with Matplotlib, and puts the pictures side by side into one sheet a script.

    tests/pictures/compare.py --gasell build/dev/bin/gasell --peer PYTHON --out FOLDER [NAME …]

PYTHON has matplotlib, numpy, pandas 2 and scipy. FOLDER gets NAME.png, Gasell's at the left and Matplotlib's at the right, and the mean difference of both
is printed, in parts of 255. It is for people's eyes: tests/pictures/run.py is the test."""

import argparse
import concurrent.futures
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = ROOT / "examples" / "pictures"
SHEET = r"""
import sys
import matplotlib
matplotlib.use("Agg")
import matplotlib.image as mi
import numpy as np
ours, theirs, out = sys.argv[1:]
a, b = [mi.imread(p)[:, :, :3] for p in (ours, theirs)]
h = max(a.shape[0], b.shape[0])
pad = lambda m: np.pad(m, ((0, h - m.shape[0]), (0, 8), (0, 0)), constant_values=0.5)
mi.imsave(out, np.concatenate([pad(a), pad(b)], axis=1))
print(f"{255 * np.abs(a - b).mean():.2f}" if a.shape == b.shape else f"sizes differ: {a.shape} {b.shape}")
"""


def draw(command, script, folder):
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([*command, str(script)], cwd=folder, capture_output=True, text=True, timeout=300)
    return folder / (script.stem + ".png"), done.stderr


def compared(script, gasell, peer, out, folder):
    ours, our_errors = draw([gasell], script, folder / "ours")
    theirs, their_errors = draw([peer], script, folder / "theirs")
    for path, errors in ((ours, our_errors), (theirs, their_errors)):
        if not path.exists():
            return f"{script.stem}: not drawn\n{errors}"
    done = subprocess.run([peer, "-c", SHEET, str(ours), str(theirs), str(out / (script.stem + ".png"))], capture_output=True, text=True)
    return f"{script.stem}: {done.stdout.strip() or done.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=str(ROOT / "build/dev/bin/gasell"))
    parser.add_argument("--peer", default=sys.executable)
    parser.add_argument("--out", required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    out = Path(options.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    scripts = [s for s in sorted(SCRIPTS.glob("*.gsl")) if not options.names or s.stem in options.names]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for line in pool.map(lambda s: compared(s, str(Path(options.gasell).resolve()), options.peer, out, Path(folder)), scripts):
            print(line, flush=True)


if __name__ == "__main__":
    main()
