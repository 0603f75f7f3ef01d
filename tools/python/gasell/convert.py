"""What is rare between Python's objects and a session's values; the extension does the rest itself."""

from __future__ import annotations

import sys

from . import _gasell, dtypes

_BUILTIN_TYPES = {kind: kind.__name__ for kind in (bool, int, float, complex, str, list, tuple, dict, set, frozenset, range, slice, object)}


make, operate = _gasell.make, _gasell.operate


def _of_type(session, kind):
    name = _BUILTIN_TYPES.get(kind)
    if name is not None:
        return make(session, f"lambda: {name}")
    module = sys.modules.get(kind.__module__.partition(".")[0])
    if module is not None and module.__name__ == "numpy" and issubclass(kind, module.generic):
        return make(session, "lambda name: np.dtype(name)", module.dtype(kind).name)
    raise TypeError(f"the type '{kind.__name__}' has no counterpart in Gasell")


def _of_numpy(session, value):
    import numpy as np

    if isinstance(value, np.dtype):
        return make(session, "lambda name: np.dtype(name)", value.name if value.names is None else str(value))
    if isinstance(value, np.generic):
        if value.dtype.kind not in "mM":
            return value.item()
        kind = "Timestamp" if value.dtype.kind == "M" else "Timedelta"
        return make(session, f"lambda n: pd.{kind}(n)", int(value.astype(f"{value.dtype.kind}8[ns]").view(np.int64)))
    if isinstance(value, np.ufunc):
        return make(session, f"lambda: np.{value.__name__}")
    if value.dtype.kind in "mM":
        numbers = np.ascontiguousarray(value.astype(f"{value.dtype.kind}8[ns]")).view(np.int64)
        return make(session, f"lambda a: pd.{'to_datetime' if value.dtype.kind == 'M' else 'to_timedelta'}(a).values", numbers)
    if not value.dtype.isnative:
        return value.astype(value.dtype.newbyteorder("="))
    if value.dtype.kind in "US":
        return make(session, "lambda a: np.array(a)", value.astype("U").tolist())
    if value.dtype.kind in "biufc":
        copy = np.array(value, order="C")
        if copy.dtype.itemsize in (1, 2, 4, 8, 16) and copy.dtype != np.float16:
            return copy
    raise TypeError(f"arrays of dtype {value.dtype} have no counterpart in Gasell")


def _of_arrow_array(session, value):
    import pyarrow

    column = value if isinstance(value, (pyarrow.Array, pyarrow.ChunkedArray)) else pyarrow.array(value)
    frame = _gasell.frame_of_stream(session, pyarrow.table({"0": column}).__arrow_c_stream__())
    return make(session, "lambda f: f['0'].rename(None)", frame)


def _of_pandas(session, value):
    """Frames and Series of pandas, their index with them; columns of numbers over pandas' memory."""
    from .frame import from_pandas

    return from_pandas(session, value)


def _of_large_integer(session, number):
    """An integer beyond 64 bits, where the language has them."""
    try:
        return make(session, "lambda text: int(text)", str(number))
    except (OverflowError, ValueError, NotImplementedError) as error:
        raise OverflowError(f"the integer {number} does not fit 64 bits") from error


def _of_bytes(session, value):
    """Bytes, where the language has them."""
    try:
        return make(session, f"lambda items: {type(value).__name__}(items)", list(value))
    except (NameError, NotImplementedError) as error:
        raise TypeError(f"an object of type '{type(value).__name__}' has no counterpart in Gasell") from error


def _of_polars(session, value):
    """A frame or Series of Polars': its texts are views, which Arrow's older layouts do not have, so that they are laid out anew."""
    import polars

    if isinstance(value, polars.Series):
        frame = _of_polars(session, value.to_frame("0"))
        return make(session, "lambda f, name: f['0'].rename(name)", frame, value.name or None)
    try:
        table = value.to_arrow(compat_level=polars.CompatLevel.oldest())
    except ImportError:
        columns = {column.name: column.to_numpy() if column.dtype.is_numeric() and not column.null_count() else column.to_list()
                   for column in value.get_columns()}
        return make(session, "lambda data: pd.DataFrame(data)", columns)
    return _gasell.frame_of_stream(session, table.__arrow_c_stream__())


def prepare(session, value):
    """What the extension can convert, made of an object that it cannot."""
    kind = type(value)
    if isinstance(value, type):
        return _of_type(session, value)
    if value is Ellipsis:
        return make(session, "lambda: ...")
    if isinstance(value, (set, frozenset)):
        return make(session, f"lambda a: {'set' if isinstance(value, set) else 'frozenset'}(a)", list(value))
    if kind is range:
        return make(session, "lambda a, b, c: range(a, b, c)", value.start, value.stop, value.step)
    if isinstance(value, _gasell.Value):
        return _of_other_session(session, value)
    root = kind.__module__.partition(".")[0]
    if root == "numpy":
        return _of_numpy(session, value)
    if root == "pandas":
        return _of_pandas(session, value)
    if root == "polars" and hasattr(value, "to_arrow"):
        return _of_polars(session, value)
    if isinstance(value, bool):
        return bool(value)
    if isinstance(value, int):
        number = int(value)
        if -(2**63) <= number < 2**63:
            return number
        return _of_large_integer(session, number)
    if isinstance(value, (bytes, bytearray)):
        return _of_bytes(session, value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, complex):
        return complex(value)
    if isinstance(value, dict):
        return dict(value)
    if isinstance(value, list):
        return list(value)
    if kind.__module__ == "datetime" or kind.__module__ == "_pydatetime":
        return _of_datetime(session, value)
    if hasattr(value, "__cuda_array_interface__"):
        return of_cuda(session, value)
    if root == "pyarrow" and hasattr(value, "type") and hasattr(value, "null_count"):  # an Array or a ChunkedArray
        return _of_arrow_array(session, value)
    if hasattr(value, "__arrow_c_stream__"):
        return _gasell.frame_of_stream(session, value.__arrow_c_stream__())
    if hasattr(value, "__arrow_c_array__"):
        return _of_arrow_array(session, value)
    if hasattr(value, "__dlpack__"):
        return of_dlpack(session, value)
    if hasattr(value, "__array__"):
        array = value.__array__()
        if type(array).__module__.partition(".")[0] == "numpy":
            return array
    if hasattr(value, "__index__"):
        return value.__index__()
    if callable(value):
        return _gasell.host_function(session, value, getattr(value, "__name__", kind.__name__))
    raise TypeError(f"an object of type '{kind.__name__}' has no counterpart in Gasell")


_ON_HOST, _ON_GPU = (1, 3), (2, 12, 13)  # DLPack's device types
_DEFAULT_STREAM = 1


def of_cuda(session, value):
    """An array over memory of a GPU that the session's engine computes on, by the CUDA array interface."""
    told = value.__cuda_array_interface__
    what = f"a '{type(value).__name__}' in a GPU's memory"
    if told.get("mask") is not None:
        raise TypeError(f"{what} with a mask has no counterpart in Gasell")
    name = dtypes.NAMES_OF_TYPE_STRINGS.get(told["typestr"])
    if name is None:
        raise TypeError(f"{what} of the type {told['typestr']!r} has no counterpart in Gasell")
    shape, strides = tuple(told["shape"]), told.get("strides")
    if strides is None:
        strides = dtypes.contiguous_strides(shape)
    else:
        width = int(told["typestr"][2:])
        if any(step % width for step in strides):
            raise TypeError(f"{what} whose strides are no multiples of its elements has no counterpart in Gasell")
        strides = tuple(step // width for step in strides)
    stream = told.get("stream")
    if stream == 0:
        raise ValueError("stream 0 is ambiguous, and not allowed by the CUDA array interface")
    if told["version"] < 3:  # which says nothing of streams: that the default one comes behind what the library has under way is DLPack's to say
        stream = _DEFAULT_STREAM
        if hasattr(value, "__dlpack__"):
            value.__dlpack__(stream=stream)
    return _gasell.device_array(session, value, told["data"][0], dtypes.NAMES.index(name), shape, strides, stream or 0)


def of_dlpack(session, value):
    """An array over a tensor's memory: the host's, or that of a GPU that the session's engine computes on."""
    device = int(value.__dlpack_device__()[0]) if hasattr(value, "__dlpack_device__") else 1
    if device in _ON_GPU:
        try:
            return _gasell.array_of_dlpack(session, value.__dlpack__(stream=_DEFAULT_STREAM, max_version=(1, 0)))
        except TypeError as error:
            raise TypeError(f"a '{type(value).__name__}' in a GPU's memory gives no tensor of DLPack 1") from error
    if device not in _ON_HOST:
        raise TypeError(f"a '{type(value).__name__}' is in the memory of a device (DLPack's type {device}) that Gasell does not use")
    try:
        capsule = value.__dlpack__(max_version=(1, 0))
    except TypeError:  # a library of before DLPack 1
        import numpy as np

        return np.from_dlpack(value)
    try:
        return _gasell.array_of_dlpack(session, capsule)
    except ValueError:
        import numpy as np

        return np.from_dlpack(value)


def _of_datetime(session, value):
    import datetime

    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            raise TypeError("a datetime with a time zone has no counterpart in Gasell: give it in UTC without one")
        return make(session, "lambda text: pd.Timestamp(text)", value.isoformat())
    if isinstance(value, datetime.timedelta):
        return make(session, "lambda n: pd.Timedelta(n)", ((value.days * 86400 + value.seconds) * 10**6 + value.microseconds) * 1000)
    raise TypeError(f"an object of type '{type(value).__name__}' has no counterpart in Gasell")


def _of_other_session(session, value):
    from .function import JitFunction

    if isinstance(value, JitFunction):
        return value._in(session)
    name = value._type_name()
    if name == "DataFrame":
        return _gasell.frame_of_stream(session, value._arrow_stream())
    if name == "dtype":
        return make(session, "lambda name: np.dtype(name)", value._text())
    if name == "Series":
        frame = make(value.session, "lambda s: s.to_frame('0')", value)
        return make(session, "lambda f, name: f['0'].rename(name)", _gasell.frame_of_stream(session, frame._arrow_stream()), value.name)
    raise TypeError(f"a '{name}' belongs to its session and cannot go to another one")


def finish(value, type_name):
    """A value of a kind that the extension does not know, as Python's where Python has one."""
    session = value.session
    if type_name in ("set", "frozenset"):
        items = operate(session, "lambda s: list(s)", value)
        return set(items) if type_name == "set" else frozenset(items)
    if type_name == "range":
        return range(*operate(session, "lambda r: (r.start, r.stop, r.step)", value))
    if type_name == "slice":
        return slice(*operate(session, "lambda s: (s.start, s.stop, s.step)", value))
    if type_name == "ellipsis":
        return Ellipsis
    if type_name == "int":
        return int(value._text())
    if type_name in ("Timestamp", "Timedelta"):
        return _time_of_pandas(value, type_name)
    if type_name in ("bytes", "bytearray"):
        return (bytes if type_name == "bytes" else bytearray)(operate(session, "lambda b: list(b)", value))
    return value


def _time_of_pandas(value, type_name):
    try:
        import pandas
    except ImportError:
        return value
    return getattr(pandas, type_name)(operate(value.session, "lambda t: t.value", value).__index__())
