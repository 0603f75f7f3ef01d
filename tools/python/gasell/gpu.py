"""Arrays in the memory of GPUs, as other libraries see them."""

from __future__ import annotations

import re

from . import _gasell, dtypes
from .array import Array

_CUDA, _SIMULATED = 2, 12  # DLPack's device types


def on_gpu(array, device, stream=None):
    """The array, computed, in the memory of a GPU: "gpu:0", or the simulated "sim:0"."""
    found = re.fullmatch(r"(gpu|sim):(\d+)", device) if isinstance(device, str) else None
    if found is None:
        raise ValueError(f"unknown device {device!r}: others see arrays on \"cpu\", \"gpu:0\", \"gpu:1\", ...")
    _require_stream(stream)
    kind, number = _CUDA if found[1] == "gpu" else _SIMULATED, int(found[2])
    array._dlpack(kind, number)  # it is there, or cannot be
    made = GpuArray.__new__(GpuArray, _gasell.operate(array.session, "lambda a: np.asarray(a)", array))
    made._device = kind, number
    return made


def _require_stream(stream):
    if stream is not None and (not isinstance(stream, int) or stream < -1 or stream == 0):
        raise ValueError(f"stream {stream!r} is none: 1, 2 and handles are CUDA's, -1 and None ask for no order")


class GpuArray(Array):
    """An array that others see in a GPU's memory: CuPy, PyTorch, JAX and Numba take it as it is. It is read-only to them, and what was
    recorded of it is done when they get it, whatever stream they use. Results of operations are arrays like any other.
    """

    __slots__ = ("_device",)

    @property
    def device(self):
        """Where the memory lies that others see: "gpu:0"."""
        kind, number = self._device
        return f"{'gpu' if kind == _CUDA else 'sim'}:{number}"

    def to_device(self, device, /, *, stream=None):
        """The array as others shall see it."""
        if device == self.device:
            _require_stream(stream)
            return self
        return _gasell.operate(self.session, "lambda a: a", self).to_device(device, stream=stream)

    @property
    def __cuda_array_interface__(self):
        address, name, shape, strides = self._device_memory(self._device[1])
        return {"version": 3, "shape": shape, "typestr": dtypes.TYPE_STRINGS[name], "data": (address, True), "strides": strides, "stream": None}

    def __dlpack_device__(self):
        return self._device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        _require_stream(stream)
        if dl_device is not None and tuple(dl_device) != self._device:
            if copy is False:
                raise BufferError(f"the array is on {self.device}, and a copy is needed to give it on another device")
            if tuple(dl_device) != (1, 0):
                raise BufferError(f"the array is on {self.device} and cannot be given on the device {tuple(dl_device)}")
            return self.to_device("cpu").__dlpack__(max_version=max_version)
        if max_version is None or max_version[0] < 1:
            raise BufferError("read-only memory of a GPU cannot be given without DLPack 1: CuPy and PyTorch take __cuda_array_interface__")
        return (self.copy() if copy else self)._dlpack(*self._device)
