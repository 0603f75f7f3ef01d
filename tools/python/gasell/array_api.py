"""The Python array API standard over Gasell's arrays: `xp = array.__array_namespace__()`.

Functions have the standard's names and signatures; they are Gasell's of NumPy's names, and record.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import types
from typing import Any, NamedTuple

from . import _gasell, dtypes
from .array import Array, asarray_in, session_of
from .convert import of_dlpack
from .session import default_session

__array_api_version__ = "2024.12"
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")

e, pi, inf, nan, newaxis = math.e, math.pi, math.inf, math.nan, None
for _name in dtypes.NAMES:
    globals()[_name] = dtypes.scalar_type(_name)

_operate = _gasell.operate

# The standard's signature, and the name that NumPy has for it where that is another.
_SIGNATURES = """
abs(x, /)
acos(x, /)
acosh(x, /)
add(x1, x2, /)
asin(x, /)
asinh(x, /)
atan(x, /)
atan2(x1, x2, /)
atanh(x, /)
bitwise_and(x1, x2, /)
bitwise_left_shift(x1, x2, /)
bitwise_invert(x, /)
bitwise_or(x1, x2, /)
bitwise_right_shift(x1, x2, /)
bitwise_xor(x1, x2, /)
ceil(x, /)
conj(x, /)
copysign(x1, x2, /)
cos(x, /)
cosh(x, /)
divide(x1, x2, /)
equal(x1, x2, /)
exp(x, /)
expm1(x, /)
floor(x, /)
floor_divide(x1, x2, /)
greater(x1, x2, /)
greater_equal(x1, x2, /)
hypot(x1, x2, /)
imag(x, /)
isfinite(x, /)
isinf(x, /)
isnan(x, /)
less(x1, x2, /)
less_equal(x1, x2, /)
log(x, /)
log1p(x, /)
log2(x, /)
log10(x, /)
logaddexp(x1, x2, /)
logical_and(x1, x2, /)
logical_not(x, /)
logical_or(x1, x2, /)
logical_xor(x1, x2, /)
maximum(x1, x2, /)
minimum(x1, x2, /)
multiply(x1, x2, /)
negative(x, /)
nextafter(x1, x2, /)
not_equal(x1, x2, /)
positive(x, /)
pow(x1, x2, /)
real(x, /)
reciprocal(x, /)
remainder(x1, x2, /)
round(x, /)
sign(x, /)
signbit(x, /)
sin(x, /)
sinh(x, /)
square(x, /)
sqrt(x, /)
subtract(x1, x2, /)
tan(x, /)
tanh(x, /)
trunc(x, /)
tril(x, /, *, k=0)
triu(x, /, *, k=0)
take(x, indices, /, *, axis=None)
take_along_axis(x, indices, /, *, axis=-1)
broadcast_to(x, /, shape)
concat(arrays, /, *, axis=0)
expand_dims(x, /, axis)
flip(x, /, *, axis=None)
moveaxis(x, source, destination, /)
permute_dims(x, /, axes)
repeat(x, repeats, /, *, axis=None)
roll(x, /, shift, *, axis=None)
squeeze(x, /, axis)
stack(arrays, /, *, axis=0)
tile(x, repetitions, /)
unstack(x, /, *, axis=0)
argmax(x, /, *, axis=None, keepdims=False)
argmin(x, /, *, axis=None, keepdims=False)
count_nonzero(x, /, *, axis=None, keepdims=False)
nonzero(x, /)
searchsorted(x1, x2, /, *, side='left', sorter=None)
where(condition, x1, x2, /)
cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False)
cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False)
max(x, /, *, axis=None, keepdims=False)
mean(x, /, *, axis=None, keepdims=False)
min(x, /, *, axis=None, keepdims=False)
prod(x, /, *, axis=None, dtype=None, keepdims=False)
sum(x, /, *, axis=None, dtype=None, keepdims=False)
all(x, /, *, axis=None, keepdims=False)
any(x, /, *, axis=None, keepdims=False)
diff(x, /, *, axis=-1, n=1, prepend=None, append=None)
matmul(x1, x2, /)
matrix_transpose(x, /)
tensordot(x1, x2, /, *, axes=2)
vecdot(x1, x2, /, *, axis=-1)
"""
_LINALG = """
cross(x1, x2, /, *, axis=-1)
det(x, /)
diagonal(x, /, *, offset=0)
eigh(x, /)
eigvalsh(x, /)
inv(x, /)
matmul(x1, x2, /)
matrix_norm(x, /, *, keepdims=False, ord='fro')
matrix_power(x, n, /)
matrix_rank(x, /, *, rtol=None)
matrix_transpose(x, /)
outer(x1, x2, /)
pinv(x, /, *, rtol=None)
qr(x, /, *, mode='reduced')
slogdet(x, /)
solve(x1, x2, /)
svd(x, /, *, full_matrices=True)
svdvals(x, /)
tensordot(x1, x2, /, *, axes=2)
trace(x, /, *, offset=0, dtype=None)
vecdot(x1, x2, /, *, axis=-1)
vector_norm(x, /, *, axis=None, keepdims=False, ord=2)
"""
_FFT = """
fft(x, /, *, n=None, axis=-1, norm='backward')
ifft(x, /, *, n=None, axis=-1, norm='backward')
fftn(x, /, *, s=None, axes=None, norm='backward')
ifftn(x, /, *, s=None, axes=None, norm='backward')
rfft(x, /, *, n=None, axis=-1, norm='backward')
irfft(x, /, *, n=None, axis=-1, norm='backward')
rfftn(x, /, *, s=None, axes=None, norm='backward')
irfftn(x, /, *, s=None, axes=None, norm='backward')
hfft(x, /, *, n=None, axis=-1, norm='backward')
ihfft(x, /, *, n=None, axis=-1, norm='backward')
fftshift(x, /, *, axes=None)
ifftshift(x, /, *, axes=None)
"""


def _signature(parameters: str) -> inspect.Signature:
    """The signature of a text "x, /, *, axis=None"."""
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    made: list[inspect.Parameter] = []
    for part in parameters.split(", "):
        if part == "/":
            made = [each.replace(kind=inspect.Parameter.POSITIONAL_ONLY) for each in made]
        elif part == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
        else:
            name, has_default, default = part.partition("=")
            made.append(inspect.Parameter(name, kind, default=ast.literal_eval(default) if has_default else inspect.Parameter.empty))
    return inspect.Signature(made)


def _standard_function(line: str, prefix: str = ""):
    """A function with a signature of the standard's; keyword arguments that are their defaults are not handed on."""
    name, _, parameters = line.partition("(")
    signature = _signature(parameters.rstrip(")"))
    text = f"numpy:{prefix}{name}"
    named = {each.name: each.default for each in signature.parameters.values() if each.kind is inspect.Parameter.KEYWORD_ONLY}
    count = len(signature.parameters) - len(named)

    def function(*args, **kwargs):
        if len(args) != count or kwargs:
            given = signature.bind(*args, **kwargs).arguments
            kwargs = {each: given[each] for each in named if each in given and given[each] is not named[each]}
            args = [value for each, value in given.items() if each not in named]
        return _operate(session_of(*args), text, *args, **kwargs)

    function.__name__ = function.__qualname__ = name
    setattr(function, "__signature__", signature)
    function.__doc__ = f"The array API's {name}{signature}."
    return function


def _define(namespace, lines, prefix=""):
    for line in lines.split("\n"):
        if line:
            made = _standard_function(line, prefix)
            namespace[made.__name__] = made


_define(globals(), _SIGNATURES)


# ---- what the standard says otherwise than NumPy, or NumPy does not have ----


def _check_device(device):
    if device not in (None, "cpu"):
        raise ValueError(f"unknown device {device!r}: arrays are on \"cpu\"")


def _made(function, *args, dtype=None, device=None, **kwargs):
    _check_device(device)
    if dtype is not None:
        kwargs["dtype"] = dtypes.name_of(dtype)
    return _operate(session_of(*args), f"numpy:{function}", *args, **kwargs)


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """An array of the object; over its memory where that is possible and `copy` is not True."""
    _check_device(device)
    made = asarray_in(session_of(obj), obj)
    same = dtype is None or made._describe()[0] == dtypes.name_of(dtype)
    if copy is False and not (same and hasattr(obj, "__array_interface__") or isinstance(obj, Array) and same):
        raise ValueError("the array cannot be made without a copy")
    if not same:
        return made.astype(dtypes.name_of(dtype))
    return made.copy() if copy else made


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """Numbers from start to before stop."""
    if stop is None:
        start, stop = 0, start
    return _made("arange", start, stop, step, dtype=dtype, device=device)


def empty(shape, *, dtype=None, device=None):
    """An array whose elements may be anything."""
    return _made("empty", shape, dtype=dtype, device=device)


def zeros(shape, *, dtype=None, device=None):
    """Zeros."""
    return _made("zeros", shape, dtype=dtype, device=device)


def ones(shape, *, dtype=None, device=None):
    """Ones."""
    return _made("ones", shape, dtype=dtype, device=device)


def full(shape, fill_value, *, dtype=None, device=None):
    """One value everywhere."""
    return _made("full", shape, fill_value, dtype=dtype, device=device)


def empty_like(x, /, *, dtype=None, device=None):
    """empty of the shape and dtype of x."""
    return _made("empty_like", x, dtype=dtype, device=device)


def zeros_like(x, /, *, dtype=None, device=None):
    """zeros of the shape and dtype of x."""
    return _made("zeros_like", x, dtype=dtype, device=device)


def ones_like(x, /, *, dtype=None, device=None):
    """ones of the shape and dtype of x."""
    return _made("ones_like", x, dtype=dtype, device=device)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """full of the shape and dtype of x."""
    return _made("full_like", x, fill_value, dtype=dtype, device=device)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """Ones on a diagonal."""
    return _made("eye", n_rows, n_cols, k=k, dtype=dtype, device=device)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """Numbers at equal distances."""
    return _made("linspace", start, stop, num, endpoint=endpoint, dtype=dtype, device=device)


def meshgrid(*arrays, indexing="xy"):
    """Grids of coordinates, a list."""
    return list(_operate(session_of(*arrays), "numpy:meshgrid", *arrays, indexing=indexing))


def from_dlpack(x, /, *, device=None, copy=None):
    """An array over a tensor's memory."""
    _check_device(device)
    made = x if isinstance(x, Array) else default_session()._convert(of_dlpack(default_session(), x))
    return made.copy() if copy else made


def astype(x, dtype, /, *, copy=True, device=None):
    """The array with another element type."""
    _check_device(device)
    return _operate(x.session, "lambda a, d, c: a.astype(d, copy=c)", x, dtypes.name_of(dtype), copy)


def broadcast_arrays(*arrays):
    """The arrays in their common shape, a list."""
    return list(_operate(session_of(*arrays), "numpy:broadcast_arrays", *arrays))


def clip(x, /, min=None, max=None):
    """The elements within bounds, of the dtype of x."""
    if min is None and max is None:
        return x.copy()
    made = _operate(x.session, "numpy:clip", x, min, max)
    return made if made._describe()[0] == x._describe()[0] else made.astype(x._describe()[0])


def reshape(x, /, shape, *, copy=None):
    """The elements in C order in another shape."""
    made = _operate(x.session, "numpy:reshape", x, shape)
    return made.copy() if copy else made


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """The elements in order along an axis."""
    made = _operate(x.session, "numpy:sort", x, axis=axis, kind="stable")
    return flip(made, axis=axis) if descending else made


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """The indices that sort along an axis; equal elements stay in their order."""
    if not descending:
        return _operate(x.session, "numpy:argsort", x, axis=axis, kind="stable")
    backwards = _operate(x.session, "numpy:argsort", flip(x, axis=axis), axis=axis, kind="stable")
    return (x.shape[axis] - 1) - flip(backwards, axis=axis)


def _number_of(x, axis):
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return math.prod(x.shape[each] for each in axes)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The variance; `correction` is subtracted from the number of elements."""
    if correction == int(correction):
        return _operate(x.session, "numpy:var", x, axis=axis, ddof=int(correction), keepdims=keepdims)
    count = _number_of(x, axis)
    factor = count / (count - correction) if count > correction else math.nan
    return _operate(x.session, "numpy:var", x, axis=axis, keepdims=keepdims) * factor


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The standard deviation; `correction` is subtracted from the number of elements."""
    return sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))  # noqa: F821


class UniqueAll(NamedTuple):
    """What unique_all gives."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """What unique_counts gives."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """What unique_inverse gives."""

    values: Array
    inverse_indices: Array


def _unique(x, **wanted):
    return _operate(x.session, "numpy:unique", x.ravel(), equal_nan=False, **wanted)


def unique_all(x, /):
    """The different elements, where each comes first, which of them each element is, and how often."""
    values, indices, inverse, counts = _unique(x, return_index=True, return_inverse=True, return_counts=True)
    return UniqueAll(values, indices, inverse.reshape(x.shape), counts)


def unique_counts(x, /):
    """The different elements and how often each comes."""
    return UniqueCounts(*_unique(x, return_counts=True))


def unique_inverse(x, /):
    """The different elements, and which of them each element is."""
    values, inverse = _unique(x, return_inverse=True)
    return UniqueInverse(values, inverse.reshape(x.shape))


def unique_values(x, /):
    """The different elements."""
    return _unique(x)


# ---- dtypes ----


def _dtype_of(value):
    return value.dtype if isinstance(value, Array) else dtypes.dtype(dtypes.name_of(value))


_KINDS = {"bool": ("bool",), "signed integer": ("int8", "int16", "int32", "int64"), "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
          "real floating": ("float32", "float64"), "complex floating": ("complex64", "complex128")}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]


def isdtype(dtype, kind):
    """Whether a dtype is of a kind: "integral", another dtype, or one of a tuple of these."""
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, each) for each in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"unrecognized data type kind: {kind!r}")
        return dtypes.name_of(dtype) in _KINDS[kind]
    return dtypes.name_of(dtype) == dtypes.name_of(kind)


def can_cast(from_, to, /):
    """Whether every value of one dtype has a place in the other."""
    return builtins.bool(_operate(session_of(from_), "lambda a, b: np.can_cast(np.dtype(a), np.dtype(b))", dtypes.name_of(_dtype_of(from_)),
                         dtypes.name_of(_dtype_of(to))))


def result_type(*arrays_and_dtypes):
    """The dtype of an operation on these; Python's numbers are weak."""
    if not arrays_and_dtypes:
        raise ValueError("at least one array or dtype is required")
    given = [each if isinstance(each, (builtins.bool, int, float, complex)) else dtypes.name_of(_dtype_of(each)) for each in arrays_and_dtypes]
    made = _operate(session_of(*arrays_and_dtypes), "lambda *a: str(np.result_type(*[np.dtype(x) if isinstance(x, str) else x for x in a]))", *given)
    return dtypes.dtype(made)


class finfo_object(NamedTuple):
    """What finfo gives."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: object


class iinfo_object(NamedTuple):
    """What iinfo gives."""

    bits: int
    max: int
    min: int
    dtype: object


def finfo(type, /):
    """The limits of a floating-point dtype."""
    name = dtypes.name_of(_dtype_of(type))
    real = {"complex64": "float32", "complex128": "float64"}.get(name, name)
    if real == "float32":
        return finfo_object(32, 2.0**-23, (2 - 2.0**-23) * 2.0**127, -(2 - 2.0**-23) * 2.0**127, 2.0**-126, dtypes.dtype(real))
    if real == "float64":
        return finfo_object(64, 2.0**-52, (2 - 2.0**-52) * 2.0**1023, -(2 - 2.0**-52) * 2.0**1023, 2.0**-1022, dtypes.dtype(real))
    raise ValueError(f"finfo is of floating-point dtypes, not of {name}")


def iinfo(type, /):
    """The limits of an integer dtype."""
    made = _dtype_of(type)
    if made.kind not in "iu":
        raise ValueError(f"iinfo is of integer dtypes, not of {made.name}")
    bits = 8 * made.itemsize
    return iinfo_object(bits, 2 ** (bits - (made.kind == "i")) - 1, -(2 ** (bits - 1)) if made.kind == "i" else 0, made)


# ---- inspection ----


class _Info:
    """What __array_namespace_info__() gives."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}

    def default_device(self):
        return "cpu"

    def devices(self):
        return ["cpu"]

    def default_dtypes(self, *, device=None):
        _check_device(device)
        return {"real floating": float64, "complex floating": complex128, "integral": int64, "indexing": int64}  # noqa: F821

    def dtypes(self, *, device=None, kind=None):
        _check_device(device)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        return {name: dtypes.dtype(name) for name in dtypes.NAMES if kind is None or isdtype(name, kinds)}


def __array_namespace_info__():
    """What there is: devices, dtypes, abilities."""
    return _Info()


# ---- the extensions ----

linalg = types.SimpleNamespace()
_define(linalg.__dict__, _LINALG, "linalg.")
for _name in ("matmul", "matrix_transpose", "tensordot", "vecdot"):
    setattr(linalg, _name, globals()[_name])


class EighResult(NamedTuple):
    """What eigh gives."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """What qr gives."""

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """What slogdet gives."""

    sign: Array
    logabsdet: Array


class SVDResult(NamedTuple):
    """What svd gives."""

    U: Array
    S: Array
    Vh: Array


def _cholesky(x, /, *, upper=False):
    """The triangular factor of a positive definite matrix."""
    lower = _operate(x.session, "numpy:linalg.cholesky", x)
    return conj(lower.mT) if upper else lower  # noqa: F821


def _eigh(x, /):
    """Eigenvalues and eigenvectors of a symmetric matrix."""
    return EighResult(*_operate(x.session, "numpy:linalg.eigh", x))


def _qr(x, /, *, mode="reduced"):
    """An orthogonal and a triangular factor."""
    return QRResult(*_operate(x.session, "numpy:linalg.qr", x, mode=mode))


def _slogdet(x, /):
    """The sign and the logarithm of the determinant."""
    return SlogdetResult(*_operate(x.session, "numpy:linalg.slogdet", x))


def _svd(x, /, *, full_matrices=True):
    """The singular value decomposition."""
    return SVDResult(*_operate(x.session, "numpy:linalg.svd", x, full_matrices=full_matrices))


for _function in (_cholesky, _eigh, _qr, _slogdet, _svd):
    _function.__name__ = _function.__qualname__ = _function.__name__[1:]
    setattr(linalg, _function.__name__, _function)

fft = types.SimpleNamespace()
_define(fft.__dict__, _FFT, "fft.")


def fftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of fft's elements."""
    made = _made("fft.fftfreq", n, d, device=device)
    return made if dtype is None else astype(made, dtype)


def rfftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of rfft's elements."""
    made = _made("fft.rfftfreq", n, d, device=device)
    return made if dtype is None else astype(made, dtype)


fft.fftfreq, fft.rfftfreq = fftfreq, rfftfreq
del fftfreq, rfftfreq
