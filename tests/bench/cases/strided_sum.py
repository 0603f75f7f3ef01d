from harness.case import Case, prange


def loop(x):
    total = 0.0
    for i in prange(x.shape[0] // 2):
        for j in range(0, x.shape[1], 2):
            total += x[2 * i, j]
    return total


case = Case(
    title="x[::2, ::2].sum(), f64 8000x5000",
    size=8000,
    inputs=lambda n, rng: {"x": rng.random((n, 5000))},
    expression="x[::2, ::2].sum()",
    scalar=True,
    # Half of the rows, all of their cache lines.
    bytes_read=4000 * 5000 * 8,
    numba=loop,
)
