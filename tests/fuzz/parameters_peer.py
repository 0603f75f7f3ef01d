"""Run by parameters.py under the peer's Python: prints calls as lines of JSON, one for each function and parameter and each of a few values that change the peer's answer.

Of every function the required parameters are found by trying: the first values of the pool that the peer takes. Then each other parameter is changed alone, through the whole pool;
kept are values that the peer takes and that change what it answers. An item is [object, function, parameter, base call, changed call].
"""

import contextlib
import inspect
import io
import itertools
import json
import re
import sys
import warnings

import numpy as np
import pandas as pd

warnings.simplefilter("ignore")
MOST_VALUES = 3  # of a parameter
MOST_TRIES = 400  # of required arguments

OBJECTS = {
    "s": "pd.Series([3.0, 1.5, np.nan, 2.0, 1.5], index=list('abcde'), name='v')",
    "si": "pd.Series([3, 1, 2, 1, 5], name='n')",
    "st": "pd.Series(['b', 'a-c', None, 'ab c', 'B1'])",
    "sd": "pd.Series(pd.to_datetime(['2024-01-31 10:00', '2023-05-06 00:00', None, '2024-03-01 23:59']))",
    "sc": "pd.Series(pd.Categorical(['x', 'y', 'x', None], categories=['y', 'x', 'z']))",
    "ts": "pd.Series([1.0, np.nan, 3.0, 4.5], index=pd.to_datetime(['2024-01-01 00:00', '2024-01-02 12:00', '2024-01-03 00:00', '2024-01-06 00:00']))",
    "df": "pd.DataFrame({'k': [2, 1, 2, 1, 1], 'a': [1.5, np.nan, 3.0, 0.5, np.nan], 'b': [5, 4, 4, 1, 0], 't': ['x', 'y', None, 'x', 'z']})",
    "dn": "pd.DataFrame({'a': [1.5, np.nan, 3.0, 0.5], 'b': [5.0, 4.0, np.nan, np.nan], 'c': [1, 1, 0, 2]}, index=[3, 0, 2, 1])",
    "dt": "pd.DataFrame({'a': [1.0, np.nan, 3.0, 4.5], 'b': [1, 2, 3, 4]}, index=pd.to_datetime(['2024-01-01 00:00', '2024-01-02 12:00', '2024-01-03 00:00', '2024-01-06 00:00']))",
    "g": "pd.DataFrame({'k': [2, 1, 2, 1, 1, 3], 'a': [1.5, np.nan, 3.0, 0.5, 2.5, np.nan], 'b': [5, 4, 4, 1, 0, 2]}).groupby('k')",
    "gs": "pd.DataFrame({'k': [2, 1, 2, 1, 1, 3], 'a': [1.5, np.nan, 3.0, 0.5, 2.5, np.nan]}).groupby('k')['a']",
    "w": "pd.Series([3.0, 1.5, np.nan, 2.0, 1.5, 4.0]).rolling(3, min_periods=1)",
    "wf": "pd.DataFrame({'a': [1.5, np.nan, 3.0, 0.5], 'b': [5.0, 4.0, 2.0, 1.0]}).rolling(2)",
    "we": "pd.Series([3.0, 1.5, np.nan, 2.0]).expanding()",
    "ww": "pd.Series([3.0, 1.5, np.nan, 2.0]).ewm(com=0.5)",
    "r": "pd.Series([1.0, np.nan, 3.0, 4.5], index=pd.to_datetime(['2024-01-01 00:00', '2024-01-02 12:00', '2024-01-03 00:00', '2024-01-06 00:00'])).resample('2D')",
    "rf": "pd.DataFrame({'a': [1.0, np.nan, 3.0], 'b': [1, 2, 3]}, index=pd.to_datetime(['2024-01-01 00:00', '2024-01-02 12:00', '2024-01-06 00:00'])).resample('D')",
    "st.str": "pd.Series(['b', 'a-c', None, 'ab c', 'B1']).str",
    "sd.dt": "pd.Series(pd.to_datetime(['2024-01-31 10:00', '2023-05-06 00:00', None, '2024-03-01 23:59'])).dt",
    "sc.cat": "pd.Series(pd.Categorical(['x', 'y', 'x', None], categories=['y', 'x', 'z'])).cat",
    "i": "pd.Index([3, 1, 2, 1], name='n')",
    "it": "pd.Index(['b', 'a', 'c'])",
    "id": "pd.to_datetime(['2024-01-31 10:00', '2023-05-06 00:00', '2024-03-01 00:00'])",
    "ic": "pd.CategoricalIndex(['x', 'y', 'x'])",
    "ir": "pd.RangeIndex(2, 9, 3)",
    "x": "np.array([[3.0, -1.5, np.nan], [2.0, 0.0, 7.25]])",
    "xi": "np.array([[3, -1, 5], [2, 0, 7]])",
    "rng": "np.random.default_rng(7)",
    "pd": "pd",
    "np": "np",
    "np.linalg": "np.linalg",
}
# What a required parameter is tried with, by its name, before the pool.
BY_NAME = {
    "func": ["'sum'", "lambda v: v", "lambda v: v.sum()", "lambda v, w: v"], "function": ["lambda v: v"], "other": ["2", "pd.Series([1.0, 2.0, 3.0])", "pd.DataFrame({'a': [1.0, 2.0]})", "pd.Index([1, 9])"],
    "by": ["'k'", "'a'", "['a']", "lambda v: v"], "on": ["'k'"], "right": ["pd.DataFrame({'k': [1, 2, 7], 'z': [10, 20, 30]})"], "left": ["pd.DataFrame({'k': [1, 2, 4], 'y': [1, 2, 3]})"],
    "objs": ["[pd.Series([1, 2]), pd.Series([3], index=[5])]", "[pd.DataFrame({'a': [1]}), pd.DataFrame({'b': [2]}, index=[4])]"], "value": ["0", "'a'"], "values": ["[1, 2]", "['x']", "'a'"],
    "cond": ["lambda v: v > 1"], "rule": ["'2D'"], "freq": ["'D'"], "expr": ["'a > 1'", "'1 + 2'"], "pat": ["'a'"], "repl": ["'Q'"], "sep": ["'-'"], "width": ["6"], "start": ["0", "'2024-01-01'"],
    "stop": ["3"], "end": ["'2024-01-04'"], "data": ["[3, 1, 2]", "pd.DataFrame({'k': [1, 1, 2], 'a': [1.0, 2.0, 3.0]})", "{'a': [1, 2]}"], "x": ["np.array([3.0, 1.0, 2.0])", "[1.0, 2.5, 4.0]"], "q": ["0.5"],
    "a": ["np.array([3.0, 1.0, 2.0, 1.0])", "np.array([[2.0, 1.0], [1.0, 3.0]])"], "m": ["np.array([[2.0, 1.0], [1.0, 3.0]])"], "arr": ["np.array([3.0, 1.0, 2.0, 1.0])"], "dtype": ["'float32'", "'datetime64[ns]'"], "arg": ["['2024-01-05', '2023-02-01']", "['1.5', '2']"], "loc": ["0", "1"],
    "columns": ["'k'", "{'a': 'z'}"], "index": ["'k'"], "label": ["1"], "labels": ["['a']"], "decimals": ["1"], "periods": ["1"], "window": ["2"], "key": ["'a'"], "keys": ["'k'"], "items": ["['a']"],
    "n": ["3"], "size": ["4"], "indices": ["[0, 1]"], "ary": ["np.arange(6.0)"], "arrays": ["[np.arange(3.0), np.arange(3.0) + 5]"], "b": ["np.array([1.0, 2.0])", "np.array([3.0, 2.0, 1.0, 0.0])"], "new_categories": ["['p', 'q', 'r']"],
    "mapper": ["{'a': 'z'}", "lambda v: v"], "to_replace": ["1.5", "'a'"], "column": ["'z'"], "name": ["'z'"], "date_format": ["'%Y-%m'"], "tz": ["'UTC'", "'Europe/Berlin'"], "condition": ["[True, False]"],
    "path_or_buf": ["io.StringIO('[{\"a\": 1}, {\"a\": 2.5}]')"], "filepath_or_buffer": ["io.StringIO('k,a,t\\n1,2.5,x\\n2,,NA\\n# c\\n1,\"3,5\",\\n')"], "newshape": ["(2, -1)"], "shape": ["(2, 3)", "(3,)"], "v": ["[1.0, 2.5]"], "bins": ["3"], "xp": ["[1.0, 2.0]"], "fp": ["[5.0, 7.0]"],
    "object": ["3.5"], "fill_value": ["7.0"], "pad_width": ["1"], "lam": ["2.0"], "p": ["0.3"], "prop_length": ["1"], "offset": ["'2D'"], "time": ["'10:00'"], "start_time": ["'09:00'"], "end_time": ["'11:00'"], "str": ["'a'"],
}
POOL = [
    "True", "False", "0", "1", "-1", "2", "3", "0.5", "1.5", "'a'", "'b'", "'k'", "'x'", "'index'", "'columns'", "'ignore'", "'coerce'", "'raise'", "'inner'", "'outer'", "'left'", "'right'", "'cross'", "'first'", "'last'",
    "'max'", "'min'", "'dense'", "'average'", "'all'", "'any'", "'D'", "'2D'", "'h'", "'s'", "'inside'", "'outside'", "'linear'", "'nearest'", "'lower'", "'higher'", "'midpoint'", "'both'", "'neither'", "'%Y'", "'%.2f'", "'C'", "'F'",
    "'mergesort'", "'pearson'", "'spearman'", "'kendall'", "'records'", "'list'", "'split'", "'integer'", "'float'", "'float32'", "'int8'", "'category'", "'ffill'", "'bfill'", "'pad'", "'constant'", "'edge'", "'wrap'", "'same'", "'valid'",
    "'full'", "'infer'", "'start'", "'end'", "'utf-8'", "'|'", "';'", "'NA'", "'sum'", "'std'", "'table'", "'single'", "'python'", "[0]", "[1, 0]", "[0, 2]", "['a']", "['a', 'b']", "['b', 'a']", "[0.1, 0.9]", "{'a': 9}", "{'a': 'z'}", "(0, 1)", "lambda v: -v",
    "lambda v: str(v)", "np.int32", "float", "[True, False, True, False, True]", "pd.Series([9.0, 8.0, 7.0, 6.0, 5.0])", "np.array([2.0, 1.0, 3.0, 4.0])", "'2024-01-02'", "pd.Timedelta('1h')", "None",
]
FILES = {"buf", "path_or_buf", "excel_writer", "path", "fname", "file"}  # a number would be taken for an open file of the process
SKIPPED = set(
    "to_clipboard to_sql to_excel to_hdf to_stata to_gbq to_pickle to_latex to_markdown to_xml to_html plot hist boxplot style pipe to_parquet to_feather to_orc read_clipboard read_excel read_fwf read_gbq read_hdf read_html"
    " read_orc read_parquet read_feather read_pickle read_sas read_spss read_sql read_sql_query read_sql_table read_stata read_table read_xml to_csv show_versions test save savez savez_compressed savetxt load loadtxt genfromtxt fromfile tofile memmap"
    " DataFrame_from info get_include show_config show_runtime frompyfunc vectorize piecewise set_printoptions printoptions setbufsize seterr seterrcall errstate apply_over_axes nditer nested_iters einsum_path block info"
    " set_eng_float_format set_option reset_option describe_option option_context empty empty_like from_dlpack getbufsize bmat matrix asmatrix mat recarray rec record busdaycalendar ndenumerate ndindex DataSource source iterrows"
    " itertuples items sample bit_generator spawn __dataframe__ dump dumps get_option memory_usage base flags ctypes strides device to_device".split()
)


# What a result is as text, the same in both languages.
SHOWN = """
def shown(r):
    if isinstance(r, (tuple, list)):
        return "[" + "; ".join([shown(v) for v in r]) + "]"
    if isinstance(r, dict):
        return "{" + "; ".join([shown(k) + ": " + shown(v) for k, v in r.items()]) + "}"
    if isinstance(r, (pd.DataFrame, pd.Series)) and r.index.nlevels > 1:
        return repr(r)
    if isinstance(r, pd.DataFrame):
        return repr(r) + " " + str([str(t) for t in r.dtypes]) + " " + str(r.index.dtype)
    if isinstance(r, pd.Series):
        return repr(r) + " " + str(r.index.dtype)
    if isinstance(r, (np.ndarray, np.generic)):
        return repr(r) + " " + str(r.dtype)
    return repr(r)
"""
exec(SHOWN)


def answer(text, namespace):
    """(what the call gives and leaves in its object, as text, or None; the exception's name)"""
    namespace["o"] = eval(namespace["make"], namespace)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            given = eval(text, namespace)
        if callable(given) or type(given).__name__ in ("generator", "StringIO", "Rolling", "Expanding", "ExponentialMovingWindow", "DataFrameGroupBy", "SeriesGroupBy", "DatetimeIndexResampler", "Window", "module"):
            return None, "callable"
        result = shown(given) + (" | " + shown(namespace["o"]) if isinstance(namespace["o"], (pd.DataFrame, pd.Series, pd.Index, np.ndarray)) else "")
        return (None, "address") if " at 0x" in result or len(result) > 4000 else (result, "")
    except BaseException as e:  # some speak by SystemExit
        return None, type(e).__name__


def required_arguments(function, parameters, namespace):
    """Texts of positional arguments that the function takes, and its answer; None where no try succeeds."""
    needed = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    choices = [[*BY_NAME.get(p.name, []), *(v for v in POOL if p.name not in BY_NAME)] for p in needed]
    for arguments in itertools.islice(itertools.product(*choices), MOST_TRIES):
        result, _ = answer(f"o.{function}({', '.join(arguments)})", namespace)
        if result is not None:
            return list(arguments), result
    return None, None


def values_for(parameter):
    """The values of the pool that can be meant for a parameter, by its default."""
    default = parameter.default
    if parameter.name in FILES:
        return ["io.StringIO()"]
    if isinstance(default, bool):
        return [v for v in POOL if v == str(not default) or v[0] == "'"]
    if isinstance(default, (int, float)):
        return [v for v in POOL if v[0] in "-0123456789[('"]
    if isinstance(default, str):
        return [v for v in POOL if v[0] in "'NTFl"]
    return POOL


def calls_of(where, only):
    namespace = {"np": np, "pd": pd, "io": io, "make": OBJECTS[where]}
    thing = eval(OBJECTS[where], namespace)
    for function in dir(thing):
        if function.startswith("_") or function in SKIPPED or only and not only.search(f"{where}.{function}"):
            continue
        try:
            member = getattr(thing, function)
            if not callable(member) or inspect.isclass(member) and function not in ("Series", "DataFrame", "Index", "Categorical", "DatetimeIndex", "RangeIndex", "CategoricalIndex", "Timestamp", "Timedelta"):
                continue
            parameters = [p for p in inspect.signature(member).parameters.values()]
        except Exception:
            continue
        arguments, base = required_arguments(function, parameters, namespace)
        if arguments is None:
            continue
        given = len(arguments)
        for p in parameters[given:]:
            if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY):
                continue
            seen = {base}
            for value in values_for(p):
                text = ", ".join([*arguments, f"{p.name}={value}"])
                result, _ = answer(f"o.{function}({text})", namespace)
                if result is None or result in seen:
                    continue
                seen.add(result)
                yield [where, function, p.name, f"o.{function}({', '.join(arguments)})", f"o.{function}({text})"]
                if len(seen) > MOST_VALUES:
                    break


def main():
    only = re.compile(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2] else None
    for call in calls_of(sys.argv[1], only):
        print(json.dumps(call), flush=True)


if __name__ == "__main__":
    main()
