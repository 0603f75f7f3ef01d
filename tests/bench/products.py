#!/usr/bin/env python3
"""Times products of matrices and what decomposes them. The same script under Gasell and under NumPy, each a process of its own.

  tests/bench/products.py --gasell build/release/bin/gasell --python PYTHON [--elements 2000] [--runs 3] [NAMES…]

PYTHON is an interpreter with NumPy; with --gpu, one with CuPy, and Gasell computes on the GPU: results stay there. --elements is the extent of the largest matrix.
Data is made by formulas, so both see the same numbers. Of each step the fastest of --runs counts, and the first run is shown for Gasell; a step ends when its
result is in memory. Results are compared by a sum that depends on the order of their elements before ratios are given.
"""

import steps

DATA = r'''
n = N


def matrix(rows, columns, dtype=np.float64):
    return np.array(np.sin(np.arange(rows * columns) * 0.6180339887498949 % 97.0).reshape(rows, columns).astype(dtype))


a, b = matrix(n, n), np.array(matrix(n, n).T)
a32, b32 = matrix(n, n, np.float32), np.array(matrix(n, n, np.float32).T)
c = np.array(matrix(n // 2, n // 2) + 1j * matrix(n // 2, n // 2).T)
stack = np.array(np.cos(np.arange(100000 * 256) * 0.7 % 89.0).reshape(-1, 16, 16))
left, right = np.array(matrix(64 * 256, 256).reshape(64, 256, 256)), np.array(matrix(64 * 256, 256).reshape(64, 256, 256) + 0.5)
points = matrix(100 * n, 16)
centres = np.array(points[:64])
x, w = matrix(100 * n, 50), np.array(np.linspace(-1, 1, 50))
y = np.array((x @ w > 0).astype(np.float64))
few = n // 4
well = np.array(matrix(few, few) + few * np.eye(few))
half = np.array(well @ well.T / few)
tall = np.array(matrix(50 * n, 20) + np.arange(50 * n)[:, None] % 7 * (np.arange(20) + 1.0) % 11)


def nearest():
    return ((points**2).sum(axis=1)[:, None] - 2 * (points @ centres.T) + (centres**2).sum(axis=1)).argmin(axis=1)


def gradient():
    return x.T @ (1 / (1 + np.exp(-(x @ w))) - y)


STEPS = {
    "a @ b f64": lambda: a @ b,
    "a @ b f32": lambda: a32 @ b32,
    "c @ c c128, half": lambda: np.abs(c @ c),
    "a.T @ a f64": lambda: a.T @ a,
    "sin(a) @ b + 1": lambda: np.sin(a) @ b + 1,
    "a @ vector": lambda: a @ a[0],
    "100,000 products of 16x16": lambda: stack @ stack,
    "einsum bij,bkj->bik": lambda: np.einsum("bij,bkj->bik", left, right),
    "tensordot": lambda: np.tensordot(left, right, axes=([0, 2], [0, 1])),
    "nearest of 64 centres": nearest,
    "logistic gradient": gradient,
    "solve, a quarter": lambda: np.linalg.solve(well, half),
    "cholesky, a quarter": lambda: np.linalg.cholesky(half),
    "eigvalsh, a quarter": lambda: np.linalg.eigvalsh(half),
    "svd values, a quarter": lambda: np.linalg.svd(well, compute_uv=False),
    "qr of 20 columns": lambda: np.linalg.qr(tall)[1],
    "svd of 20 columns": lambda: np.linalg.svd(tall, full_matrices=False)[1],
}
'''

if __name__ == "__main__":
    steps.main(__doc__, DATA, elements=2000, tolerance=1e-5)
