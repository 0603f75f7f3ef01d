"""Arrays of a session, seen by Python's libraries."""

from __future__ import annotations

import functools

from . import _gasell, dtypes
from .errors import error_class
from .session import default_session

_make, _operate = _gasell.make, _gasell.operate
_NUMBERS = (bool, int, float, complex)


def _is_operand(other):
    return isinstance(other, (_gasell.Value, *_NUMBERS, list, tuple)) or hasattr(other, "__array_interface__") or hasattr(other, "__dlpack__")


def _binary(operation, ufunc):
    text, into = f"operator:{operation}", f"numpy:{ufunc}"

    def method(self, other):
        if not _is_operand(other) or _defers(other):
            return NotImplemented
        return _operate(self.session, text, self, other)

    def reflected(self, other):
        if not _is_operand(other) or _defers(other):
            return NotImplemented
        return _operate(self.session, text, other, self)

    def in_place(self, other):
        if not _is_operand(other):
            return NotImplemented
        if not self.ndim:
            return _operate(self.session, text, self, other)
        _operate(self.session, into, self, other, out=self)
        return self

    return method, reflected, in_place


def _defers(other):
    """Whether the other operand is a wrapper that takes arrays as its chunks, as dask.array's."""
    return not isinstance(other, _gasell.Value) and getattr(other, "__array_priority__", 0) > Array.__array_priority__


def _unary(operation):
    text = f"operator:{operation}"

    def method(self):
        return _operate(self.session, text, self)

    return method


def _comparison(operation):
    text = f"operator:{operation}"

    def method(self, other):
        if not _is_operand(other) or _defers(other):
            return NotImplemented
        return _operate(self.session, text, self, other)

    return method


def _named_method(name):
    text = f"lambda a, *args, **kwargs: a.{name}(*args, **kwargs)"

    def method(self, *args, **kwargs):
        return _operate(self.session, text, self, *args, **kwargs)

    method.__name__ = name
    method.__qualname__ = f"Array.{name}"
    method.__doc__ = f"numpy.ndarray.{name}, computed when the result is looked at."
    return method


class Array(_gasell.Value):
    """An array of a session. Operators and NumPy's functions record; what looks at elements computes: printing, float(), numpy.asarray().

    Arrays are made with gasell.asarray(...), by functions of gasell.np and gasell.array_api, and by sessions. Their memory is shared with
    NumPy (the buffer protocol, __array_interface__, __array__), DLPack and what takes these; to others it is read-only.
    """

    __slots__ = ("__weakref__",)
    __array_priority__ = 5.0  # behind dask.array (10) and xarray, which take arrays as parts of theirs
    __hash__ = None

    # ---- what it is ----
    @property
    def dtype(self):
        """The element type: numpy.dtype where NumPy is installed."""
        return dtypes.dtype(self._describe()[0])

    @property
    def shape(self):
        """The extents, a tuple."""
        return self._describe()[1]

    @property
    def ndim(self):
        """How many axes."""
        return len(self._describe()[1])

    @property
    def size(self):
        """How many elements."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def itemsize(self):
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self):
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def device(self):
        """Where the memory lies that others see: "cpu"."""
        return "cpu"

    def to_device(self, device, /, *, stream=None):
        """The array as others shall see it: on "cpu", or in the memory of a GPU that its engine computes on, "gpu:0"."""
        if device != "cpu":
            from .gpu import on_gpu

            return on_gpu(self, device, stream)
        if stream is not None:
            raise ValueError("there are no streams on the device \"cpu\"")
        return self

    @property
    def T(self):
        """The axes reversed."""
        return _operate(self.session, "lambda a: a.T", self)

    @property
    def mT(self):
        """The last two axes exchanged."""
        if self.ndim < 2:
            raise error_class("ValueError")("matrix transpose with ndim < 2 is undefined")
        return _operate(self.session, "numpy:matrix_transpose", self)

    @property
    def real(self):
        """The real part."""
        return _operate(self.session, "numpy:real", self)

    @property
    def imag(self):
        """The imaginary part."""
        return _operate(self.session, "numpy:imag", self)

    @property
    def flat(self):
        """The elements in C order, as Python's numbers."""
        return iter(self.ravel().tolist())

    def compute(self):
        """Computes the array now, and gives it."""
        self._memory()
        return self

    # ---- elements ----
    def __getitem__(self, key):
        if not self.shape:  # which is perhaps one of NumPy's scalars
            return _operate(self.session, "lambda a, key: np.asarray(a)[key]", self, key)
        return _operate(self.session, "operator:getitem", self, key)

    def __setitem__(self, key, value):
        if not self.shape:
            self._become(_make(self.session, "lambda a: np.array(a)", self))
        _operate(self.session, "operator:setitem", self, key, value)

    def __len__(self):
        shape = self.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    def __iter__(self):
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[k] for k in range(len(self)))

    def __contains__(self, item):
        return bool((self == item).any())

    def item(self, *index):
        """An element as a Python number: the only one, or that of the index."""
        return (self[index if len(index) > 1 else index[0]] if index else self)._item()

    def __bool__(self):
        if self.size != 1:
            raise error_class("ValueError")("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
                                            if self.size else "The truth value of an empty array is ambiguous. Use `array.size > 0` to "
                                            "check that an array is not empty.")
        return bool(self._item())

    def _scalar(self, what):
        if self.ndim:
            raise error_class("TypeError")(f"only 0-dimensional arrays can be converted to Python {what}")
        return self._item()

    def __int__(self):
        return int(self._scalar("scalars"))

    def __float__(self):
        return float(self._scalar("scalars"))

    def __complex__(self):
        return complex(self._scalar("scalars"))

    def __index__(self):
        number = self._scalar("scalars")
        if not isinstance(number, int) or isinstance(number, bool):
            raise error_class("TypeError")("only integer scalar arrays can be converted to a scalar index")
        return number

    def __repr__(self):
        return _operate(self.session, "lambda a: repr(a)", self)

    def __str__(self):
        return self._text()

    def __format__(self, spec):
        return format(self._item(), spec) if spec and not self.ndim else str(self)

    # ---- to others ----
    def __array__(self, dtype=None, copy=None):
        np = dtypes.numpy()
        array = np.asarray(memoryview(self))
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ValueError(f"a copy is needed to make {np.dtype(dtype)} of {array.dtype}")
            return array.astype(dtype)
        return array.copy() if copy else array

    @property
    def __array_interface__(self):
        address, name, shape, strides = self._memory()
        return {"version": 3, "shape": shape, "typestr": dtypes.TYPE_STRINGS[name], "data": (address, True), "strides": strides}

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if stream is not None:
            raise ValueError("there are no streams in the host's memory")
        if dl_device is not None and tuple(dl_device) != (1, 0):
            raise BufferError("the array is in the host's memory: to_device(\"gpu:0\") gives one that is not")
        if max_version is None or max_version[0] < 1:  # a consumer of before DLPack 1 may write, so it gets a copy
            if copy is False:
                raise BufferError("read-only memory cannot be given without DLPack 1")
            return dtypes.numpy().array(self).__dlpack__()
        return (self.copy() if copy else self)._dlpack(1, 0)

    def __array_namespace__(self, /, *, api_version=None):
        from . import array_api

        if api_version is not None and api_version not in array_api.VERSIONS:
            raise ValueError(f"the array API of {api_version!r} is not there: {', '.join(array_api.VERSIONS)} are")
        return array_api

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        from .numpy_functions import call_ufunc

        return call_ufunc(self, ufunc, method, inputs, kwargs)

    def __array_function__(self, function, types, args, kwargs):
        from .numpy_functions import call_function

        return call_function(self, function, args, kwargs)

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):
        np = dtypes.numpy()
        if np is not None:
            return _restored, (np.array(self),)
        return _restored_from_bytes, (bytes(memoryview(self.copy())), self._describe()[0], self.shape)

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self


_OPERATORS = {"add": ("add", "add"), "sub": ("sub", "subtract"), "mul": ("mul", "multiply"), "truediv": ("truediv", "divide"),
              "floordiv": ("floordiv", "floor_divide"), "mod": ("mod", "remainder"), "pow": ("pow", "power"), "matmul": ("matmul", "matmul"),
              "and": ("and_", "bitwise_and"), "or": ("or_", "bitwise_or"), "xor": ("xor", "bitwise_xor"),
              "lshift": ("lshift", "left_shift"), "rshift": ("rshift", "right_shift")}
for _name, (_operation, _ufunc) in _OPERATORS.items():
    for _prefix, _method in zip(("", "r", "i"), _binary(_operation, _ufunc)):
        _method.__name__ = f"__{_prefix}{_name}__"
        setattr(Array, _method.__name__, _method)
for _name, _operation in {"neg": "neg", "pos": "pos", "abs": "abs", "invert": "invert"}.items():
    setattr(Array, f"__{_name}__", _unary(_operation))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Array, f"__{_name}__", _comparison(_name))
METHODS = ("all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "clip", "compress", "conj", "conjugate", "copy",
           "cumprod", "cumsum", "diagonal", "dot", "fill", "flatten", "max", "mean", "min", "nonzero", "partition", "prod", "put", "ravel",
           "repeat", "reshape", "round", "searchsorted", "sort", "squeeze", "std", "sum", "swapaxes", "take", "tolist", "tobytes", "trace",
           "transpose", "var", "view")
for _name in METHODS:
    setattr(Array, _name, _named_method(_name))


def _restored(array):
    # Its own memory: what was unpickled is nobody else's.
    return asarray(array)


def _restored_from_bytes(data, name, shape):
    import array

    letters = {"bool": "B", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q",
               "float32": "f", "float64": "d"}
    if name not in letters:
        raise TypeError(f"arrays of {name} are pickled with NumPy only")
    flat = asarray(array.array(letters[name], data))
    return (flat.astype("bool") if name == "bool" else flat).reshape(shape)


def asarray_in(session, data, dtype=None):
    """An array of the session over the memory of `data`, or of the numbers in it."""
    value = session._convert(data)
    if not isinstance(value, Array):
        value = _operate(session, "numpy:asarray", value)
    elif value is data and value.session is not session:
        value = session._convert(value)
    if dtype is not None:
        value = _operate(session, "lambda a, d: a.astype(d, copy=False)", value, dtypes.name_of(dtype))
    return value


def asarray(data, dtype=None):
    """An array of the default session: over the memory of what has some (NumPy, buffers, DLPack), else of numbers and lists of them.

    Nothing is copied where the layout is Gasell's: later changes of that memory are seen by results that are not computed yet.
    """
    return asarray_in(default_session(), data, dtype)


def session_of(*values):
    """The session of the first value of Gasell's among these, and in lists and tuples among them; else the default one."""
    return _session_in(values) or default_session()


def _session_in(values):
    for value in values:
        if isinstance(value, _gasell.Value):
            return value.session
        if isinstance(value, (list, tuple)):
            found = _session_in(value)
            if found is not None:
                return found
    return None


@functools.cache
def function_named(name: str):
    """numpy's function of Gasell by its name, "linalg.norm": a Python function that keeps results lazy."""
    text = f"numpy:{name}"

    def function(*args, **kwargs):
        return _operate(session_of(*args, *kwargs.values()), text, *args, **kwargs)

    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__doc__ = f"numpy.{name} of Gasell; NumPy's page describes it."
    return function
