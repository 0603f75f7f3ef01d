#!/usr/bin/env python3
"""ptxas takes the kernels that the library of frames and scripts with @cuda.jit run on GPUs, for sm_75, sm_80 and sm_90. 77: there is no ptxas.

The cases of the language suite run on simulated GPUs, which write what real ones would run (GASELL_SIM_PTX). What array expressions become is left to the unit tests.
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
CASES = "frames/gpu_|functions/cuda|kernels/|numpy/half_floats"
CAPABILITIES = 75, 80, 90
OF_ARRAYS = "gasell_map.", "gasell_reduce_"


def find_ptxas():
    roots = [os.environ.get(name) for name in ("GASELL_CUDA", "CUDA_HOME")] + ["/usr/local/cuda"]
    return next((path for path in (f"{root}/bin/ptxas" for root in roots if root) if os.path.exists(path)), None) or shutil.which("ptxas")


def assemble(ptxas, path):
    """What ptxas says against it."""
    said = []
    for capability in CAPABILITIES:
        done = subprocess.run([ptxas, f"-arch=sm_{capability}", "-o", os.devnull, path], capture_output=True, text=True)
        if done.returncode or done.stderr:
            said.append(f"{path.name}, sm_{capability}: {done.stderr.strip()}")
    return said


def main():
    ptxas = find_ptxas()
    if not ptxas:
        print("there is no ptxas")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        run = [sys.executable, ROOT / "tests/language/run.py", "--gasell", os.environ["GASELL"], "--peer", "none", "--filter", CASES, "--set", "GASELL_DEVICE=sim:2",
               "--set", "GASELL_SPLIT_FROM=0", "--set", f"GASELL_SIM_PTX={folder}"]
        status = subprocess.run(run).returncode
        files = [path for path in sorted(pathlib.Path(folder).iterdir()) if not path.name.startswith(OF_ARRAYS)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            said = [line for lines in pool.map(lambda path: assemble(ptxas, path), files) for line in lines]
    print(*said, f"{len(files)} kernels, {len(said)} refused", sep="\n")
    return 1 if status or said or not files else 0


if __name__ == "__main__":
    sys.exit(main())
