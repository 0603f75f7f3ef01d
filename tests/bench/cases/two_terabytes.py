from harness.case import Case, prange
import numpy as np


def loop(n):
    # Only the numbers that the slice keeps, as a user who thinks of it would write.
    total = 0.0
    for i in prange(n // 2):
        for _ in range(n // 2):
            total += np.random.normal(10.0, 1.0) + 1.0
    return total


case = Case(
    title="(normal(10, 1, (n, n)) + 1)[::2, ::2].sum(), f64, n = SIZE",
    size=20_000,
    full_size=500_000,
    full_peers=False,
    inputs=lambda n, rng: {},
    expression="",
    gasell="(da.random.RandomState(7).normal(10, 1, size=(SIZE, SIZE), chunks=(10000, 10000)) + 1)[::2, ::2].sum()",
    # In blocks of rows, since the whole does not fit.
    numpy="sum((np.random.default_rng(k).normal(10, 1, size=(1000, SIZE)) + 1)[::2, ::2].sum() for k in range(SIZE // 1000))",
    numba=loop,
    jax="(jax.random.normal(jax.random.key(7), (SIZE, SIZE), dtype='float64') + 11)[::2, ::2].sum()",
    scalar=True,
    bytes_read=0,
    bytes_written=0,
    check=lambda result, n: abs(result - 11 * (n // 2) ** 2) < 5 * (n // 2),
    per_item=(lambda n: (n // 2) ** 2, "kept number"),
    note="no memory moves; the target is 1.6 ns per kept number and core",
)
