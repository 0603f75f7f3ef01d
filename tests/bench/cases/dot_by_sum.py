from harness.case import Case, prange


def loop(x, y):
    total = 0.0
    for i in prange(x.size):
        total += x[i] * y[i]
    return total


case = Case(
    title="(x*y).sum(), f64",
    size=30_000_000,
    inputs=lambda n, rng: {name: rng.random(n) for name in "xy"},
    expression="(x*y).sum()",
    scalar=True,
    numexpr="sum(x*y)",
    numba=loop,
)
