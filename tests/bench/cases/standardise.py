from harness.case import Case

case = Case(
    title="(x - x.mean(axis=0))/x.std(axis=0), f64 20000x1000",
    size=20_000,
    inputs=lambda n, rng: {"x": rng.normal(3, 2, (n, 1000))},
    expression="(x - x.mean(axis=0))/x.std(axis=0)",
    # Statistics first, then the division: two passes over x at least.
    bytes_read=2 * 20_000 * 1000 * 8,
    bytes_written=20_000 * 1000 * 8,
)
