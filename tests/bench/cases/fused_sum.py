from harness.case import Case, prange


def loop(x):
    total = 0.0
    for i in prange(x.size):
        total += x[i] * 2 + 1
    return total


case = Case(
    title="(x*2 + 1).sum(), f64",
    size=50_000_000,
    inputs=lambda n, rng: {"x": rng.normal(3, 2, n)},
    expression="(x*2 + 1).sum()",
    scalar=True,
    numexpr="sum(x*2 + 1)",
    numba=loop,
)
