#!/usr/bin/env python3
"""Arrays in a real GPU's memory between Gasell and CuPy, PyTorch: values, addresses, streams, lifetimes. For a machine with an NVIDIA GPU.

    PYTHONPATH=build/release/python tests/gpu/exchange.py [--device 0]

Runs with those of CuPy and PyTorch that are installed, and says which were not. Status 1: something was wrong; 2: neither is there."""

import argparse
import gc
import sys
import time

import gasell


def check(condition, what):
    if not condition:
        raise AssertionError(what)


class WithCupy:
    def __init__(self, device):
        import cupy

        self.cupy, self.device = cupy, cupy.cuda.Device(device)
        self.device.use()

    def array(self, n):
        return self.cupy.arange(n, dtype="float64")

    def address(self, array):
        return array.data.ptr

    def taken(self, array):
        return self.cupy.asarray(array)

    def taken_by_dlpack(self, array):
        return self.cupy.from_dlpack(array)

    def total(self, array):
        return float(array.sum())

    def on_stream(self, work):
        with self.cupy.cuda.Stream(non_blocking=True):
            return work()

    def slow(self, n):
        """An array whose last value comes late, on the present stream."""
        x = self.cupy.zeros(n)
        for _ in range(200):
            x += 1
        return x

    def strided(self):
        return self.cupy.arange(24.0).reshape(4, 6)[::2, 1::2]

    def used(self):
        return self.device.mem_info[1] - self.device.mem_info[0]


class WithTorch:
    def __init__(self, device):
        import torch

        if not torch.cuda.is_available():
            raise ImportError("torch has no CUDA")
        self.torch, self.device = torch, f"cuda:{device}"
        torch.cuda.set_device(device)

    def array(self, n):
        return self.torch.arange(n, dtype=self.torch.float64, device=self.device)

    def address(self, array):
        return array.data_ptr()

    def taken(self, array):  # as_tensor() takes nothing that is read-only, as what Gasell gives by __cuda_array_interface__
        return self.torch.from_dlpack(array)

    def taken_by_dlpack(self, array):
        return self.torch.from_dlpack(array)

    def total(self, array):
        return float(array.sum())

    def on_stream(self, work):
        with self.torch.cuda.stream(self.torch.cuda.Stream()):
            return work()

    def slow(self, n):
        x = self.torch.zeros(n, dtype=self.torch.float64, device=self.device)
        for _ in range(200):
            x += 1
        return x

    def strided(self):
        return self.torch.arange(24.0, dtype=self.torch.float64, device=self.device).reshape(4, 6)[::2, 1::2]

    def used(self):
        free, total = self.torch.cuda.mem_get_info()
        return total - free


class Tensor:
    """An array by DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **given):
        return self.array.__dlpack__(**given)


def run(library, session, device):
    name, n = f"gpu:{device}", 1 << 22
    expected = n * (n - 1) / 2.0

    x = library.array(n)
    session["x"] = x
    check(session.evaluate("float(x.sum())") == expected, "the sum of what was lent")
    check(session["x"].to_device(name).__cuda_array_interface__["data"][0] == library.address(x), "what was lent was copied")

    session["x"] = library.strided()
    check(session["x"].tolist() == [[1.0, 3.0, 5.0], [13.0, 15.0, 17.0]], "strides")

    y = session.evaluate("np.arange(%d.0) * 2" % n).to_device(name)
    given = library.taken(y)
    check(library.address(given) == y.__cuda_array_interface__["data"][0], "what was given was copied")
    check(library.total(given) == 2 * expected, "the sum of what was given")
    del y
    gc.collect()
    session.evaluate("z = np.zeros(%d)\nz.persist()" % (4 * n))  # memory that was free would be taken
    check(library.total(given) == 2 * expected, "what was given went with its array")

    # work of another stream comes first
    for _ in range(20):
        got = library.on_stream(lambda: session.evaluate("float(x.min())", x=library.slow(n)))
        check(got == 200.0, f"read before the stream came there: {got}")

    x = library.array(n)
    try:
        session["x"] = Tensor(x)
        check(session.evaluate("float(x.sum())") == expected, "DLPack in")
        check(session["x"].to_device(name).__cuda_array_interface__["data"][0] == library.address(x), "DLPack copied")
    except TypeError as error:  # a library of before DLPack 1
        print(f"    DLPack in: {error}")
    y = session.evaluate("np.arange(%d.0) * 2" % n).to_device(name)
    try:
        taken = library.taken_by_dlpack(y)
        check(library.total(taken) == 2 * expected, "DLPack out")
        check(library.address(taken) == y.__cuda_array_interface__["data"][0], "DLPack out copied")
    except BufferError as error:  # a library that knows no read-only tensors
        print(f"    DLPack out: {error}")

    # nothing stays
    session.evaluate("x = z = None")
    del x, y, given
    gc.collect()
    before = library.used()
    for _ in range(50):
        session["x"] = library.array(n)
        library.total(library.taken(session.evaluate("x + 1").to_device(name)))
    session["x"] = None
    gc.collect()
    check(library.used() - before < 20 * 8 * n, "memory stays behind")

    session["x"] = library.array(n)
    start = time.perf_counter()
    for _ in range(100):
        session["x"].to_device(name).__cuda_array_interface__
    print(f"    {(time.perf_counter() - start) * 1e4:.0f} µs to give an array of {8 * n >> 20} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", type=int, default=0)
    options = parser.parse_args()
    session = gasell.Session(gasell.Engine(device=f"gpu:{options.device}"))
    ran = 0
    for kind in (WithCupy, WithTorch):
        name = kind.__name__[4:]
        try:
            library = kind(options.device)
        except ImportError as error:
            print(f"{name}: not run ({error})")
            continue
        print(name)
        run(library, session, options.device)
        print("    right")
        ran += 1
    alone = gasell.Session(gasell.Engine(device="cpu"))
    if ran:
        try:
            alone["x"] = library.array(10)
        except (TypeError, ValueError) as error:
            check("GPU" in str(error), f"an engine of the host's says {error}")
        else:
            raise AssertionError("an engine of the host's took a GPU's memory")
    return 0 if ran else 2


if __name__ == "__main__":
    sys.exit(main())
