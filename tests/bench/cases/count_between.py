from harness.case import Case, prange


def loop(x, y):
    count = 0
    for i in prange(x.size):
        count += (x[i] > 0.2) & (y[i] < 0.8)
    return count


case = Case(
    title="((x > 0.2) & (y < 0.8)).sum(), f64",
    size=40_000_000,
    inputs=lambda n, rng: {name: rng.random(n) for name in "xy"},
    expression="((x > 0.2) & (y < 0.8)).sum()",
    scalar=True,
    numexpr="sum(where((x > 0.2) & (y < 0.8), 1, 0))",
    numba=loop,
    tolerance=0,
)
