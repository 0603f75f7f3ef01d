#!/usr/bin/env python3
"""Random equations, factors and functions of matrices of scipy.linalg, and convolutions of scipy.signal, under Gasell and under SciPy.

  tests/fuzz/fuzz_solvers.py --peer PYTHON [--gasell build/dev/bin/gasell] [--count 500] [--seed 0] [--device sim:1]

As fuzz_products.py; the peer has SciPy. Of what is decomposed the script prints what is unique: products of the factors, values, absolute values.
"""

from numbers_beside_numpy import compare

EXTENTS = [1, 2, 3, 4, 5, 7, 8, 12]
DTYPES = ["float64", "float64", "float32", "complex128"]


def array(draw, shape, dtype):
    x = f"numbers({tuple(shape)}, {dtype!r}, {draw.randrange(5)})"
    view = draw.random()
    if shape and view < 0.2:
        x += "[" + ", ".join(draw.choice([":", "::-1"]) for _ in shape) + "]"
    return x


def one(draw):
    n, m = draw.choice(EXTENTS), draw.choice(EXTENTS)
    stack = [draw.choice([1, 2, 3])] if draw.random() < 0.3 else []
    dtype = draw.choice(DTYPES)
    double = lambda text: text.replace("float32", "float64")  # where SciPy computes with single precision for results of double precision
    eye = f"np.eye({n}, dtype={dtype!r})"
    square = f"({array(draw, stack + [n, n], dtype)} + {n * 3 + 3} * {eye})"
    any_square = f"({array(draw, stack + [n, n], dtype)} + np.diag(np.arange({n}.0)).astype({dtype!r}))"
    hermitian = f"(lambda a: a + np.conj(np.swapaxes(a, -1, -2)))({square})"
    other = f"({array(draw, stack + [m, m], dtype)} + {m * 3 + 3} * np.eye({m}, dtype={dtype!r}))"
    wide = array(draw, stack + [n, m], dtype)
    right = array(draw, draw.choice([[n], [n, 1], [n, 3], stack + [n, 2]]), dtype)
    lower, upper = draw.randrange(min(n, 3)), draw.randrange(min(n, 3))
    bands = f"({array(draw, stack + [lower + upper + 1, n], dtype)} + {n * 5} * (np.arange({lower + upper + 1}) == {upper})[:, None]).astype({dtype!r})"
    hermitian_bands = f"({array(draw, stack + [upper + 1, n], dtype)} + {n * 9} * (np.arange({upper + 1}) == {upper})[:, None]).astype({dtype!r})"
    real_bands = hermitian_bands if dtype != "complex128" else hermitian_bands.replace("complex128", "float64")
    kind = draw.choice(["'gen'", "'sym'", "'her'", "'pos'", "'upper triangular'", "'lower triangular'", "'diagonal'", "'tridiagonal'", "None"])
    small = f"({array(draw, stack + [n, n], dtype)} / {n * 4})"
    first, second = array(draw, [n, m], dtype), array(draw, [draw.choice(EXTENTS[:5]), draw.choice(EXTENTS[:5])], dtype)
    mode, boundary = draw.choice(["full", "same", "valid"]), draw.choice(["fill", "wrap", "symm"])
    return draw.choice(
        [
            f"sl.solve({hermitian}, {right}, assume_a={kind}, lower={draw.random() < 0.5})" if "omplex" not in dtype or kind != "'sym'" else f"sl.solve({square}, {right})",
            f"sl.solve_triangular({square}, {right}, trans={draw.choice([0, 1, 2])}, lower={draw.random() < 0.5}, unit_diagonal={draw.random() < 0.2})" if n < 5 else f"sl.inv({square})",
            f"sl.solve_banded(({lower}, {upper}), {bands}, {right})",
            f"sl.solveh_banded({real_bands}, {right})",
            f"sl.eigvals_banded({real_bands})",
            f"sl.cholesky_banded({real_bands})",
            f"sl.eigvalsh_tridiagonal({array(draw, stack + [n], 'float64')}, {array(draw, stack + [n - 1], 'float64')})",
            f"sl.solve_toeplitz((numbers({(n,)}, {dtype!r}, 1) + {4 * n + 4} * (np.arange({n}) == 0), numbers({(n,)}, {dtype!r}, 2) + {4 * n + 4} * (np.arange({n}) == 0)), {right})",
            double(f"sl.solve_circulant(numbers({(n,)}, {dtype!r}, 1) + {4 * n + 4} * (np.arange({n}) == 0), {array(draw, [n, 2], dtype)})"),
            f"sl.solve_sylvester({square}, {other}, {wide})",
            f"sl.solve_continuous_lyapunov({square}, {hermitian})",
            f"sl.solve_discrete_lyapunov({small}, {hermitian})",
            f"sl.cho_solve((sl.cholesky({hermitian}), False), {right})",
            f"sl.lu_solve(sl.lu_factor({square}), {right}, trans={draw.choice([0, 1])})",
            f"(lambda r: r[0] @ r[1] @ r[2])(sl.lu({wide}))",
            f"(lambda r: r[0] @ r[1] @ np.swapaxes(r[0], -1, -2).conj())(sl.ldl({hermitian}, lower={draw.random() < 0.5}))",
            f"(lambda r: np.take_along_axis(r[0] @ r[1], np.argsort(r[2], axis=-1)[..., None, :], axis=-1))(sl.qr({wide}, mode='economic', pivoting=True))",
            f"(lambda r: r[0] @ r[1])(sl.rq({wide}))",
            f"(lambda r: r[1] @ r[0] @ np.swapaxes(r[1], -1, -2).conj())(sl.schur({any_square}, output={draw.choice(['real', 'complex'])!r}))",
            f"(lambda r: r[1] @ r[0] @ np.swapaxes(r[1], -1, -2).conj())(sl.hessenberg({any_square}, calc_q=True))",
            f"(lambda r: r[2] @ r[0] @ np.swapaxes(r[3], -1, -2).conj())(sl.qz({any_square}, {square}))",
            f"sl.sqrtm({square})",
            double(f"sl.logm({square})"),
            f"sl.expm({small})",
            double(f"sl.expm_frechet({small}, {any_square})[1]"),
            f"sl.cosm({small})",
            double(f"sl.fractional_matrix_power({square}, {draw.choice([0.5, -0.5, 1.3, 2, -1])})"),
            f"sl.pinv({wide} + {n + m} * np.eye({n}, {m}))",
            f"sl.eigh({hermitian}, {hermitian}, eigvals_only=True)",
            f"sl.svdvals({wide})",
            f"sl.polar({square})[1]",
            f"sl.matrix_balance({any_square})[0]",
            f"sl.block_diag({square}, {other})",
            f"sl.toeplitz({array(draw, [n], dtype)}, {array(draw, [m], dtype)})",
            f"ss.convolve2d({first}, {second}, {mode!r}, {boundary!r}, {draw.choice([0, 2])})",
            f"ss.correlate2d({first}, {second}, {mode!r}, {boundary!r})",
            f"ss.convolve({first}, {second}, {mode!r}, {draw.choice(['auto', 'direct', 'fft'])!r})",
            f"ss.correlate({first}, {second}, {mode!r})",
            f"ss.fftconvolve({first}, {second}, {mode!r})",
        ]
    )


if __name__ == "__main__":
    compare(__doc__, one, "solvers", {"float32": 1e-3, "complex64": 1e-3, "float64": 1e-9, "complex128": 1e-9}, "import scipy.linalg as sl\nimport scipy.signal as ss\n")
