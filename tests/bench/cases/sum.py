from harness.case import Case, prange


def loop(x):
    total = 0.0
    for i in prange(x.size):
        total += x[i]
    return total


case = Case(
    title="x.sum(), f64",
    size=50_000_000,
    inputs=lambda n, rng: {"x": rng.normal(3, 2, n)},
    expression="x.sum()",
    scalar=True,
    numexpr="sum(x)",
    numba=loop,
)
