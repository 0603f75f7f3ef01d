"""Frames and columns of a session, seen by pandas, Polars and pyarrow."""

from __future__ import annotations

from . import _gasell, dtypes
from .operators import with_operators
from .session import default_session

_make, _operate = _gasell.make, _gasell.operate


@with_operators
class _Table(_gasell.Value):
    """What frames and Series have in common: any attribute is the language's own, called with Python's arguments."""

    __slots__ = ("__weakref__",)
    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return self._attribute(name, False)

    def __arrow_c_stream__(self, requested_schema=None):
        """The table, computed, in Arrow's layout: a capsule that owns its memory; lent where the layout is Arrow's already."""
        return self._arrow_stream()

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        from .numpy_functions import call_ufunc

        return call_ufunc(self, ufunc, method, inputs, kwargs)

    def compute(self):
        """Computes it now, and gives it."""
        _operate(self.session, "lambda a: a.compute()", self)
        return self


class DataFrame(_Table):
    """A frame of a session, with pandas' methods. To others: to_pandas(), to_arrow(), polars.DataFrame(frame), __dataframe__."""

    __slots__ = ()

    def to_arrow(self):
        """A pyarrow.Table; memory is lent where the layout is Arrow's already."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self):
        """A pandas.DataFrame, with its index; columns of numbers share memory and are read-only until pandas copies them."""
        import pandas

        columns = {name: self[name] for name in _operate(self.session, "lambda f: list(f.columns)", self)}
        data = {name: column_to_pandas(column) for name, column in columns.items()}
        made = pandas.DataFrame(data, copy=False)
        if isinstance(made.columns, pandas.MultiIndex):
            made.columns.names = _operate(self.session, "lambda f: list(f.columns.names)", self)
        made.index = index_to_pandas(self)
        return made

    def __array__(self, dtype=None, copy=None):
        import numpy as np

        return np.array(_operate(self.session, "lambda f: f.to_numpy()", self), dtype=dtype)

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        """The interchange protocol, by way of pyarrow."""
        return self.to_arrow().__dataframe__(nan_as_null, allow_copy)

    def _repr_html_(self):
        return html_of(self)

    def __reduce__(self):
        return _restored, (self.to_pandas(),)


def html_of(frame):
    """A frame as a table of HTML with its size below; of more than 60 rows the first and the last five."""
    rows, columns = len(frame), _operate(frame.session, "lambda f: len(f.columns)", frame).__index__()
    size = f"<p>{rows} rows × {columns} columns</p>"
    if rows <= 60:
        return _operate(frame.session, "lambda f: f.to_html()", frame) + "\n" + size
    head, tail = _operate(frame.session, "lambda f: (f.head(5).to_html(), f.tail(5).to_html())", frame)
    above, end = head.split("  </tbody>", 1)
    gap = "    <tr>\n      <th>...</th>\n" + "      <td>...</td>\n" * columns + "    </tr>\n"
    return above + gap + tail.split("<tbody>\n", 1)[1].split("  </tbody>", 1)[0] + "  </tbody>" + end + "\n" + size


class Series(_Table):
    """A column of a session, with pandas' methods; over its memory an array of NumPy's."""

    __slots__ = ()

    @property
    def dtype(self):
        """The element type: numpy.dtype where it is one of NumPy's, else the language's name."""
        name = _operate(self.session, "lambda s: str(s.dtype)", self)
        return dtypes.dtype(name) if name in dtypes.NAMES else name

    @property
    def values(self):
        """The elements as an Array."""
        return _operate(self.session, "lambda s: s.values", self)

    def __array__(self, dtype=None, copy=None):
        values = self.values
        import numpy as np

        array = np.asarray(values)
        return np.array(array, dtype=dtype, copy=copy) if dtype is not None or copy else array

    def to_pandas(self):
        """A pandas.Series, with its index and name."""
        return column_to_pandas(self, index_to_pandas(self))

    def to_arrow(self):
        """A pyarrow.ChunkedArray."""
        import pyarrow

        return pyarrow.table(_operate(self.session, "lambda s: s.reset_index(drop=True).to_frame('0')", self)).column("0")

    def __reduce__(self):
        return _restored, (self.to_pandas(),)


def column_to_pandas(column, index=None):
    """A pandas.Series of a column: over its memory where it is of numbers, else through Arrow where pyarrow is installed."""
    import pandas

    name = _operate(column.session, "lambda s: s.name", column)
    kind = column.dtype
    if not isinstance(kind, str):
        return pandas.Series(column.__array__(), index=index, name=name, copy=False)
    if kind.startswith(("datetime64[ns]", "timedelta64[ns]")):
        return pandas.Series(column.values.__array__(), index=index, name=name)
    if _has_pyarrow():
        made = _from_arrow(column, kind)
    else:
        text = "lambda s: [None if gone else value for value, gone in zip(s.tolist(), s.isna().tolist())]"
        made = pandas.Series(_operate(column.session, text, column))
    made.name = name
    if index is not None:
        made.index = index
    return made


def _from_arrow(column, kind):
    """A column through Arrow, of pandas' type of that name where it has one: Int64, boolean, string."""
    import pandas

    try:
        dtype = pandas.api.types.pandas_dtype(kind)
    except TypeError:
        dtype = None
    table = column.to_arrow()
    return pandas.Series(dtype.__from_arrow__(table)) if hasattr(dtype, "__from_arrow__") else table.to_pandas()


def index_to_pandas(table):
    """The pandas.Index of a frame or Series."""
    import pandas

    session = table.session
    if _operate(session, "lambda f: isinstance(f.index, pd.RangeIndex)", table):
        start, stop, step, name = _operate(session, "lambda f: (f.index.start, f.index.stop, f.index.step, f.index.name)", table)
        return pandas.RangeIndex(start, stop, step, name=name)
    levels = _operate(session, "lambda f: [f.index.get_level_values(k).to_series().reset_index(drop=True) for k in range(f.index.nlevels)]",
                      table)
    names = _operate(session, "lambda f: list(f.index.names)", table)
    levels = [column_to_pandas(level) for level in levels]
    if len(levels) > 1:
        return pandas.MultiIndex.from_arrays(levels, names=names)
    return pandas.Index(levels[0], name=names[0])


def from_pandas(session, value):
    """A frame, Series, index or scalar of pandas' as a value of the session."""
    import pandas

    if isinstance(value, pandas.DataFrame):
        if not value.columns.is_unique or isinstance(value.columns, pandas.MultiIndex):
            raise TypeError("a frame whose columns have the same name, or names of several levels, has no counterpart in Gasell")
        columns = {name: _from_column(session, value[name]) for name in value.columns}
        return _make(session, "lambda data, index: pd.DataFrame(data).set_axis(index, axis=0)", columns, _from_index(session, value.index))
    if isinstance(value, pandas.Series):
        return _make(session, "lambda data, index, name: pd.Series(data).set_axis(index).rename(name)", _from_column(session, value),
                        _from_index(session, value.index), value.name)
    if isinstance(value, pandas.Index):
        return _from_index(session, value)
    if value is pandas.NaT:
        return _make(session, "lambda: pd.NaT")
    if value is pandas.NA:
        return _make(session, "lambda: pd.NA")
    if isinstance(value, (pandas.Timestamp, pandas.Timedelta)):
        if getattr(value, "tz", None) is not None:
            raise TypeError("a Timestamp with a time zone has no counterpart in Gasell: give it in UTC without one")
        return _make(session, f"lambda n: pd.{type(value).__name__}(n)", value.as_unit("ns").value)
    raise TypeError(f"an object of type '{type(value).__name__}' has no counterpart in Gasell")


def _from_column(session, column):
    """A column without its index: an array over its memory where it is of numbers, else through Arrow."""
    import numpy as np

    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biufcmM":
        return session._convert(column.to_numpy())
    if not _goes_through_arrow(column.dtype):
        raise TypeError(f"a column of {column.dtype} has no counterpart in Gasell")
    if isinstance(column.dtype, np.dtype) or column.dtype.name in ("str", "string") and not _has_pyarrow():
        return [None if item is None or item != item else item for item in column.tolist()]
    import pyarrow

    table = pyarrow.table({"0": pyarrow.Array.from_pandas(column)})
    return _make(session, "lambda f: f['0'].rename(None)", _gasell.frame_of_stream(session, table.__arrow_c_stream__()))


def _goes_through_arrow(dtype):
    """Whether a column's type is kept by Arrow: numbers with missing ones, texts, categories, times with zones, and Arrow's own."""
    import numpy as np
    import pandas

    if isinstance(dtype, np.dtype):
        return dtype.kind == "O"
    kinds = (pandas.CategoricalDtype, pandas.StringDtype, pandas.DatetimeTZDtype, pandas.BooleanDtype, pandas.ArrowDtype)
    return isinstance(dtype, kinds) or dtype.name in _MASKED


_MASKED = {f"{kind}{bits}" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)} | {"Float32", "Float64"}


def _from_index(session, index):
    import pandas

    if isinstance(index, pandas.RangeIndex):
        return _make(session, "lambda a, b, c, name: pd.RangeIndex(a, b, c, name=name)", index.start, index.stop, index.step, index.name)
    if isinstance(index, pandas.MultiIndex):
        levels = [_from_column(session, index.get_level_values(k).to_series()) for k in range(index.nlevels)]
        return _make(session, "lambda levels, names: pd.MultiIndex.from_arrays(levels, names=names)", levels, list(index.names))
    return _make(session, "lambda data, name: pd.Index(data, name=name)", _from_column(session, index.to_series()), index.name)


def _has_pyarrow():
    import importlib.util

    return importlib.util.find_spec("pyarrow") is not None


def _restored(value):
    return default_session()._convert(value)


def dataframe(data):
    """A frame of the default session of a frame of pandas, Polars or pyarrow, or of a dict of columns."""
    session = default_session()
    value = session._convert(data)
    return value if isinstance(value, _Table) else _operate(session, "lambda d: pd.DataFrame(d)", value)
