#!/usr/bin/env python3
"""Random Fourier transforms under Gasell and under NumPy: shapes, axes, lengths, norms, dtypes, views.

  tests/fuzz/fuzz_transforms.py [--gasell build/dev/bin/gasell] [--peer PYTHON] [--count 500] [--seed 0] [--device sim:1]

Both run the same script, which prints for each transform its dtype, shape and numbers, or the error. Numbers may differ by rounding: 1e-13 (float32: 1e-5) of the largest. Exit status 1 where something else differs, 77 without a peer.
"""

from numbers_beside_numpy import compare

LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 23, 27, 32, 37, 49, 60, 64, 77, 97, 100, 121, 128]
LONG = [1009, 1024, 2000, 4099, 32768, 33075, 40009, 65536]
DTYPES = ["float64"] * 3 + ["complex128"] * 3 + ["float32", "complex64", "int32", "bool", "uint8"]


def one(draw):
    several = draw.random() < 0.4
    rank = draw.choice([1, 1, 2, 2, 3]) if not several else draw.choice([2, 2, 3])
    shape = [draw.choice(LENGTHS[:14] if rank > 1 else LENGTHS) for _ in range(rank)]
    if draw.random() < 0.05:
        shape = [draw.choice(LONG)] + ([2] if draw.random() < 0.3 else [])
        rank, several = len(shape), False
    dtype = draw.choice(DTYPES)
    x = f"numbers({tuple(shape)}, {dtype!r}, {draw.randrange(5)})"
    view = draw.random()
    if view < 0.15:
        x += ".T"
    elif view < 0.3:
        x += "[" + ", ".join(draw.choice([":", "::-1", "::2", ":"]) for _ in range(rank)) + "]"
    norm = draw.choice(["None", "'ortho'", "'forward'", "'backward'"])
    if several:
        name = draw.choice(["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"])
        axes = draw.sample(range(-rank, rank), 2) if draw.random() < 0.6 else None
        if axes and draw.random() < 0.4:
            call = f"np.fft.{name}({x}, s={tuple(draw.choice(LENGTHS[:14]) for _ in axes)}, axes={tuple(axes)}, norm={norm})"
        else:
            call = f"np.fft.{name}({x}, norm={norm}{f', axes={tuple(axes)}' if axes else ''})"
    else:
        name = draw.choice(["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
        length = draw.choice([0] + LENGTHS) if draw.random() < 0.3 else None
        call = f"np.fft.{name}({x}, {length}, {draw.randrange(-rank, rank)}, {norm})"
    return call


if __name__ == "__main__":
    compare(__doc__, one, "transforms", {"float32": 1e-5, "complex64": 1e-5, "float64": 1e-13, "complex128": 1e-13})
