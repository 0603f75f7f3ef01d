from harness.case import Case

case = Case(
    title="std of a mapped .npy, f64",
    size=1 << 26,
    full_size=1 << 29,
    inputs=lambda n, rng: {"x": rng.random(n)},
    expression="x.std()",
    scalar=True,
    mapped=True,
    memory="256MiB",
    full_memory="1GiB",
    jax=None,
    tolerance=1e-11,
    note="512 MiB under --memory 256MiB, 4 GiB under 1GiB with --full, from the page cache; NumPy reads np.load(mmap_mode='r')",
)
