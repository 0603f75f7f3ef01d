#!/usr/bin/env python3
"""Times the eight operations of the published comparison of NumPy and CuPy, at 8 and at 800 MB: elementwise, FFT, slicing, stencil, sum, SVD, product of matrices,
standard deviation. The same script under Gasell and under NumPy, or with --gpu under CuPy, each a process of its own.

  tests/bench/published.py --gasell build/release/bin/gasell --python PYTHON [--gpu] [--elements 10000] [--runs 7] [NAMES…]

PYTHON is an interpreter with NumPy; with --gpu, one with CuPy, and Gasell computes on the GPU: results stay there. --elements is the side of the larger square.
The smaller one has a tenth of the side, a hundredth of the bytes; its steps take microseconds, so ask for many runs of them: `--runs 100 ", 8 MB"`.
Decomposed is a tall matrix of as many numbers, ten times the side by a tenth of it: a square's decomposition would take minutes.
"""

import steps

DATA = r'''
def square(side):
    return np.array((np.arange(side * side) * 0.6180339887498949 % 1.0).reshape(side, side))


def smoothed(x):
    total = x[:-2, :-2] + x[:-2, 1:-1] + x[:-2, 2:] + x[1:-1, :-2] + x[1:-1, 1:-1] + x[1:-1, 2:]
    return (total + x[2:, :-2] + x[2:, 1:-1] + x[2:, 2:]) / 9


def steps_of(side):
    x = square(side)
    tall = np.array(np.sin(x * 97.0).reshape(10 * side, side // 10) + np.eye(10 * side, side // 10) * 50.0)
    name = "8 MB" if side * side * 8 < 100e6 else "800 MB"
    return {
        f"elementwise, {name}": lambda: np.sin(x) ** 2 + np.cos(x) ** 2,
        f"FFT, {name}": lambda: np.fft.fft(x),
        f"slicing, {name}": lambda: x[::3, ::2].copy(),
        f"stencil, {name}": lambda: smoothed(x),
        f"sum, {name}": lambda: x.sum(),
        f"SVD, {name}": lambda: np.linalg.svd(tall, full_matrices=False)[1],
        f"product, {name}": lambda: x @ x,
        f"standard deviation, {name}": lambda: x.std(),
    }


STEPS = {**steps_of(N // 10), **steps_of(N)}
'''

if __name__ == "__main__":
    steps.main(__doc__, DATA, elements=10000, tolerance=1e-6)
