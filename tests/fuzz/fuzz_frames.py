#!/usr/bin/env python3
"""Random frames taken through chains of random operations, under Gasell and under pandas: values, what is missing, dtypes, labels and the names of exceptions must be the same.

    fuzz_frames.py --runs 5 --seed 1 --peer .venv/bin/python3

Each run is a script of 60 chains. A chain makes a frame of random columns (of every type, with missing and repeated values, of no, one or more rows,
with odd labels) and does five things to it, each to what the one before left. What Gasell refuses by name ends the chain. Numbers may differ in the ninth
digit, types are compared by families, and where pandas raises nothing is compared. The last lines say how many chains ended where Gasell refuses a step, where
pandas raises, or at a difference that is known (frame_faults.py), and `N passed, N failed`; without a peer nothing is run.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from frame_faults import is_fault

ROOT = Path(__file__).resolve().parent.parent.parent
CHAINS_A_RUN = 60
STEPS = 5
NOT_RUN = 77  # what ctest shows as skipped
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf|nan)(?![\w])")

HEAD = '''
import numpy as np
import pandas as pd

def cell(v):
    if v is None or v is pd.NA or v is pd.NaT:
        return "-"
    if isinstance(v, str):
        return repr(v)
    if isinstance(v, (tuple, list)):
        return "(" + " ".join([cell(x) for x in v]) + ")"
    if isinstance(v, (bool, np.bool_)):
        return str(bool(v))
    if isinstance(v, (int, np.integer)):
        return str(int(v))
    if isinstance(v, (float, np.floating)):
        return "-" if v != v else repr(float(v))
    return str(v)

def shown(r):
    if isinstance(r, pd.DataFrame):
        out = ["frame " + str(r.shape) + " names " + str([cell(c) for c in r.columns])]
        for k in range(r.shape[1]):
            out.append("  dtype " + str(r.dtypes.tolist()[k]) + " | " + " ".join([cell(v) for v in r.iloc[:, k].tolist()]))
        out.append("  labels " + str(r.index.dtype) + " " + str(r.index.name) + " | " + " ".join([cell(v) for v in r.index.tolist()]))
        nan = [any(isinstance(v, float) and v != v for v in r.iloc[:, k].tolist()) for k in range(r.shape[1])]
        both = [cell(r.columns[k]) for k in range(r.shape[1]) if nan[k] and any(v is None for v in r.iloc[:, k].tolist())]
        odd = [cell(r.columns[k]) for k in range(r.shape[1]) if nan[k] and r.dtypes.tolist()[k] == "Float64"]
        out.append("  says nan among Float64 " + str(odd) + ", None beside nan " + str(both))
        return out
    if isinstance(r, pd.Series):
        return ["series " + str(r.name) + " dtype " + str(r.dtype) + " | " + " ".join([cell(v) for v in r.tolist()]),
                "  labels " + str(r.index.dtype) + " " + str(r.index.name) + " | " + " ".join([cell(v) for v in r.index.tolist()])]
    if isinstance(r, np.ndarray):
        return ["array " + str(r.dtype) + " | " + " ".join([cell(v) for v in r.tolist()])]
    return [cell(r)]

def set_loc(d, rows, columns, value):
    d = d.copy()
    d.loc[rows, columns] = value
    return d

def set_rows(d, rows, value):
    d = d.copy()
    d.loc[rows] = value
    return d

def set_iloc(d, rows, columns, value):
    d = d.copy()
    d.iloc[rows, columns] = value
    return d

def set_item(d, key, value):
    d = d.copy()
    d[key] = value
    return d

def step(name, d, f, kept):
    try:
        r = f(d)
        lines = shown(r)
    except Exception as e:
        print(name, "raises", type(e).__name__)
        text = str(e)
        print("  says", text.split("\\n")[0][:150] if len(text) > 0 else "")
        return d
    print(name, lines[0])
    for line in lines[1:]:
        print(line)
    return r if kept else d

def printed(name, d):
    print(name, "printed")
    for line in repr(d).split("\\n"):
        print("  ", line)
'''

# ---------------------------------------------------------------- frames
WORDS = ["a", "b", "c", "B", "ab", "", " x", "é", "10", "a-b", "Zz", "x y", "2.5", "abc"]


def times(rng):
    day = rng.choice(["2019-12-31", "2020-01-01", "2020-01-02", "2020-02-29", "2020-03-01", "2021-06-15", "1969-12-31"])
    return f"'{day} {rng.choice(['00:00:00', '00:00:00', '10:30:00', '23:59:59', '12:00:00.5'])}'"


KINDS = {
    "int64": lambda r: str(r.choice([r.randint(-3, 3), r.randint(-100, 100)])),
    "int8": lambda r: str(r.randint(-128, 127)),
    "int32": lambda r: str(r.randint(-5, 5)),
    "uint8": lambda r: str(r.randint(0, 255)),
    "uint64": lambda r: str(r.randint(0, 9)),
    "large": lambda r: str(r.choice([r.randint(-(2**62), 2**62), 2**53 + 1, 2**53, 7])),
    "float64": lambda r: str(r.choice([r.randint(-20, 20) / 4, r.uniform(-100, 100), 0.0, -0.0, 1.0, 2.0])),
    "wild": lambda r: r.choice(["np.inf", "-np.inf", "1e300", "-1e300", "1e-300", "0.1", "1.0", "3.0", "-0.0"]),
    "float32": lambda r: str(r.randint(-20, 20) / 4),
    "bool": lambda r: r.choice(["True", "False"]),
    "str": lambda r: repr(r.choice(WORDS)),
    "keys": lambda r: repr(r.choice(["x", "y", "z"])),
    "time": times,
    "zoned": times,
    "delta": lambda r: f"'{r.randint(-3, 3)} days {r.randint(0, 23):02}:00:{r.randint(0, 59):02}'",
    "category": lambda r: repr(r.choice(["u", "v", "w"])),
    "Int64": lambda r: str(r.randint(-4, 4)),
    "Float64": lambda r: str(r.randint(-20, 20) / 4),
    "boolean": lambda r: r.choice(["True", "False"]),
}
MISSING = {"float64": "np.nan", "wild": "np.nan", "float32": "np.nan", "str": "None", "keys": "None", "time": "None", "zoned": "None", "delta": "None", "category": "None", "Int64": "None", "Float64": "None", "boolean": "None"}
MAKES = {
    "large": "pd.Series({}, dtype='int64')", "wild": "pd.Series({}, dtype='float64')", "str": "pd.Series({}, dtype=object)", "keys": "pd.Series({}, dtype=object)",
    "time": "pd.Series(pd.to_datetime({}, format='ISO8601'))", "zoned": "pd.Series(pd.to_datetime({}, format='ISO8601', utc=True))", "delta": "pd.Series(pd.to_timedelta({}))",
    "category": "pd.Series({}, dtype='category')",
}
GROUPS = {
    "N": ["int64", "int8", "int32", "uint8", "uint64", "large", "float64", "wild", "float32", "Int64", "Float64"],
    "F": ["float64", "wild", "float32"],
    "I": ["int64", "int8", "int32", "uint8", "uint64", "large"],
    "S": ["str", "keys"],
    "T": ["time", "zoned"],
    "D": ["delta"],
    "B": ["bool"],
    "G": ["category"],
    "K": list(KINDS),
    "C": list(KINDS),
    "P": [],
    "O": ["int64", "int8", "int32", "float64", "float32", "str", "keys", "time", "delta", "bool", "Int64"],
}


def column(rng, kind, rows):
    missing = rng.choice([0, 0, 0, 0, 0, 0.2, 0.2, 0.5, 0.9, 1]) if kind in MISSING else 0
    few = [KINDS[kind](rng) for _ in range(rng.randint(1, 4))] if rng.random() < 0.4 else None
    values = [MISSING[kind] if rng.random() < missing else rng.choice(few) if few else KINDS[kind](rng) for _ in range(rows)]
    return MAKES.get(kind, f"pd.Series({{}}, dtype='{kind}')").format("[" + ", ".join(values) + "]")


def labels(rng, rows):
    pick = rng.random()
    if pick < 0.55:
        return None
    if pick < 0.65:
        return str([rng.randint(0, 4) for _ in range(rows)])
    if pick < 0.75:
        return str(rng.sample(range(100), rows))
    if pick < 0.85 and rows:
        return str([rng.choice("pqrstu") for _ in range(rows)])
    if pick < 0.9 and rows:
        return str([rng.choice([0.5, 1.5, 2.0, -1.0]) + rng.randint(0, 3) for _ in range(rows)])
    return f"pd.to_datetime([{', '.join(times(rng) for _ in range(rows))}], format='ISO8601')"


def frame(rng, rows, schema):
    parts = ", ".join(f"{name!r}: {column(rng, kind, rows)}" for name, kind in schema.items())
    return f"pd.DataFrame({{{parts}}})"


# ---------------------------------------------------------------- operations
# A capital letter is a column of that group; {a|b} is one of the choices. "=" before it: what comes out is the frame of the next step.
# A line may end in " # NAME:KIND, ..." : columns that are there afterwards, besides those that were; " # only NAME:KIND, ...": alone.
AGGREGATES = "sum|mean|min|max|count|size|first|last|var|std|median|nunique|prod|any|all|sem|skew|idxmin|idxmax"
OPERATIONS = """
=d.sort_values(C, ascending={True|False}, na_position='{first|last}', kind='stable')
=d.sort_values([C, C], ascending={True|False|[True, False]|[False, True]}, ignore_index={True|False})
=d.sort_values(C, kind='stable').head({0|1|3|100})
=d.sort_values(N, kind='stable')[d.columns[:2].tolist()]
=d.sort_index(ascending={True|False}, kind='stable')
=d[d[N] {>|<|>=|<=|==|!=} {0|1|2.5|-3}]
=d[d[S] {==|!=|>|<} '{a|x|}']
=d[d[S].isin(['a', 'x', '{b|10|}'])]
=d[d[C].isin({[]|[1]|[1, 2, 3]|['a', 'x']})]
=d[d[T] {>|<|>=} '{2020-01-01|2020-02-29 10:30:00}']
=d[d[B]]
=d[~d[B] | (d[N] > 0)]
=d[(d[N] > 0) & d[C].notna()]
=d[d[C].isna()]
=d[d.duplicated([C], keep={'first'|'last'|False})]
=d.drop_duplicates([C{|, C}], keep={'first'|'last'|False})
=d.drop_duplicates()
=d.dropna({|subset=[C]|how='all'|thresh=2|axis=1})
=d.head({0|1|3|-1|-2|50})
=d.tail({0|1|3|-1|-2|50})
=d.iloc[{::2|::-1|1:|:-1|0:0|2:5|[0]|[0, -1]|[]|100:}]
=d.iloc[:, {:1|::-1|[0]|[0, -1]|1:}]
=d.loc[{0:2|:|1:|[]}]
=d.loc[d[N] > 0, [C, C]]
=d.loc[:, [C, C]]
=d.loc[d.index[:{0|1|2}]]
=d.reset_index(drop={True|False})
=d.set_index(C)
=d.set_index(C, drop=False)
=d.assign(new=d[N] {+|-|*|/|//|%|**} {1|2|0|-1|2.5}) # new:float64
=d.assign(new=d[N] {+|-|*|/|//|%} d[N]) # new:float64
=d.assign(new=d[F].rank(method='{average|min|first|dense}', ascending={True|False}, pct={True|False}, na_option='{keep|top|bottom}')) # new:float64
=d.assign(new=d[S].rank(method='{average|min|first|dense}')) # new:float64
=d.assign(new=d[C].shift({1|-1|2|0|-9})) # new:float64
=d.assign(new=d[N].shift({1|-1}, fill_value={0|7})) # new:int64
=d.assign(new=d[F].diff({1|-1|2})) # new:float64
=d.assign(new=d[N].pct_change()) # new:float64
=d.assign(new=d[N].{cumsum|cumprod|cummin|cummax}()) # new:float64
=d.assign(new=d.groupby(K, dropna={True|False})[N].{cumsum|cumprod|cummin|cummax}()) # new:float64
=d.assign(new=d.groupby(K, dropna={True|False}).{cumcount|ngroup}()) # new:int64
=d.assign(new=d.groupby(K)[C].shift({1|-1|2})) # new:float64
=d.assign(new=d.groupby(K)[N].{diff|pct_change}()) # new:float64
=d.assign(new=d.groupby(K, dropna={True|False})[N].transform('{sum|mean|min|max|count|size|first|last|var|std|median|nunique|prod}')) # new:float64
=d.assign(new=d.groupby([K, K])[N].transform('{sum|mean|min|max|count|size|first|last|std|median}')) # new:float64
=d.assign(new=d.groupby(K)[N].rank(method='{average|min|first|dense}')) # new:float64
=d.assign(new=d[N].rolling({1|2|3|5}, min_periods={None|0|1|2}, center={True|False}).{sum|mean|min|max|var|std|count|median}()) # new:float64
=d.assign(new=d[N].expanding({1|2|3}).{sum|mean|min|max|var|std|count|median}()) # new:float64
=d.assign(new=d[N].ewm({span=3|alpha=0.3|halflife=2|com=1}, adjust={True|False}, ignore_na={True|False}).{mean|var|std}()) # new:float64
=d.assign(new=d[N].fillna({0|1.5|-1}))
=d.assign(new=d[C].ffill({|limit=1})) # new:float64
=d.assign(new=d[C].bfill({|limit=1})) # new:float64
=d.assign(new=d[F].interpolate({|limit=1|limit_direction='both'})) # new:float64
=d.assign(new=d[F].clip({-1|None}, {1|2.5})) # new:float64
=d.assign(new=d[N].{abs|round}()) # new:float64
=d.assign(new=d[N].round({0|1|-1})) # new:float64
=d.assign(new=d[N].where(d[N] > {0|1}{|, -1|, 0.5})) # new:float64
=d.assign(new=d[N].mask(d[N] > {0|1}{|, -1|, 0.5})) # new:float64
=d.assign(new=d[C].where(d[N] > 0)) # new:float64
=d.assign(new=d[N].map({{1: 10, 2: 20}|{1: 'a', 2: 'b'}})) # new:float64
=d.assign(new=d[S].map({'a': 1, 'x': 2})) # new:float64
=d.assign(new=d[N].replace({{1: 5, 2: 6}|0, 9|[0, 1], 7})) # new:float64
=d.assign(new=d[S].replace({{'a': 'q', 'x': 'r'}|'a', 'zz'|['a', 'x'], 'n'})) # new:str
=d.assign(new=d[S].str.{upper|lower|strip|len|title|isdigit|isalpha|swapcase|capitalize}()) # new:str
=d.assign(new=d[S].str.contains('{a|b|.|^x|}', {regex=True|regex=False}, na=False)) # new:bool
=d.assign(new=d[S].str.{startswith|endswith}('{a|x|b}', na=False)) # new:bool
=d.assign(new=d[S].str.replace('{a|b|-|}', '{|Q|qq}', regex=False)) # new:str
=d.assign(new=d[S].str[{0|-1|:2|1:|::-1|::2}]) # new:str
=d.assign(new=d[S].str.{zfill|rjust|ljust|center|repeat|get}({0|1|3})) # new:str
=d.assign(new=d[S].str.{find|count}('{a|b}')) # new:int64
=d.assign(new=d[S].str.split('{-| }').str[{0|-1|1}]) # new:str
=d.assign(new=d[S].str.extract(r'({[a-z]|\\d+|a(?=b)})', expand=False)) # new:str
=d.assign(new=d[S] + {d[S]|'_t'}) # new:str
=d.assign(new=d[S].str.cat(d[S], sep='-', na_rep={None|'?'})) # new:str
=d.assign(new=d[T].dt.{year|month|day|hour|minute|second|microsecond|dayofweek|dayofyear|quarter|is_month_end|is_leap_year|days_in_month}) # new:int64
=d.assign(new=d[T].dt.{floor|ceil|round}('{D|h|15min|s}')) # new:time
=d.assign(new=d[T].dt.{normalize()|day_name()|month_name()|strftime('%Y/%m/%d %H')}) # new:str
=d.assign(new=d[T] - d[T]) # new:delta
=d.assign(new=d[T] + d[D]) # new:time
=d.assign(new=d[T] - pd.Timestamp('2020-01-01')) # new:delta
=d.assign(new=d[T] + pd.Timedelta('{1D|-90min|0s}')) # new:time
=d.assign(new=d[D].dt.{days|seconds|total_seconds()|microseconds}) # new:int64
=d.assign(new=d[D] {*|/|//} {2|0.5|-1}) # new:delta
=d.assign(new=pd.cut(d[N], {3|[-10, 0, 10]|[0, 1, 2, 3]}, labels=False, right={True|False})) # new:float64
=d.assign(new=pd.cut(d[N], [-100, 0, 3, 100], labels=['lo', 'mid', 'hi'], right={True|False}, include_lowest={True|False})) # new:category
=d.assign(new=pd.qcut(d[N], {2|4}, labels=False, duplicates='drop')) # new:float64
=d.assign(new=np.where(d[N] > 0, d[N], {0|1.5})) # new:float64
=d.assign(new=d[N].between({-1|0}, {1|2}, inclusive='{both|left|right|neither}')) # new:bool
=d.assign(new=d[N] > d[N]) # new:bool
=d.assign(new=d[N] == d[N]) # new:bool
=d.assign(new=d[B] {&|^|\\|} d[B]) # new:bool
=d.assign(new=d[G].cat.codes) # new:int8
=d.assign(new=d[G].cat.{as_ordered|as_unordered|remove_unused_categories}()) # new:category
=d.assign(new=d[N].isin([1, 2, 0])) # new:bool
=d.assign(new=d[C].duplicated({|keep='last'|keep=False})) # new:bool
=d.assign(new=pd.to_numeric(d[S], errors='{coerce|raise}')) # new:float64
=d.query('A > {0|1}')
=d.query('A > 0 {and|or} b {<|>|==|!=} {1|2.5}')
=d.query('s {==|!=} "a"')
=d.query('s {in|not in} ["a", "x"]')
=d.eval('new = A + b') # new:float64
=d.rename(columns={{'A': 'b2'}|{'s': 'q'}|{'zz': 'y'}})
=d.drop(columns=[C])
=d.nlargest({0|1|3}, N)
=d.nsmallest({0|1|3}, N{|, keep='all'|, keep='last'})
=d.groupby(K, as_index=False, dropna={True|False})[[N, N]].{AGG}()
=d.groupby(K, as_index={True|False}, sort={True|False}, dropna={True|False}).agg(n=(C, '{count|size|first|last|nunique}'), v=(N, '{AGG}')) # n:int64, v:float64
=d.groupby([K, K], as_index=False, sort={True|False}, dropna={True|False}, observed=True).agg(n=(C, '{count|size|first|last|nunique}'), v=(N, '{AGG}')) # n:int64, v:float64
=d.groupby([K, K], as_index=False, observed={True|False}).size() # size:int64
=d.groupby(K, observed={True|False}).agg(v=(O, '{min|max|first|last|count|nunique}'), w=(N, '{AGG}')).reset_index() # v:float64, w:float64
=d.groupby(K).head({0|1|2|-1})
=d.groupby(K).tail({0|1|2|-1})
=d.groupby(K).nth({0|1|-1})
=d.groupby(K)[[N, C]].first().reset_index()
=d.groupby(K).filter(lambda g: len(g) > {1|2})
=d.merge(e, on=LEFT, how='{inner|left|right|outer}', sort={True|False})
=d.merge(e, left_on=LEFT, right_on=LEFT, how='{inner|left|right|outer}', suffixes=('_l', '_r'), indicator={True|False})
=d.merge(e.drop_duplicates([LEFT]), on=LEFT, how='left')
=pd.concat([d, e], ignore_index={True|False}, sort={True|False})
=pd.concat([d, e], join='inner')
=pd.concat([d, d])
=d.melt(id_vars=[S], value_vars=[N])
=d.reindex({range(5)|[0, 2, 9]|[]})
=d.reindex(columns=['A', 'q', 's'])
=d.isna()
=d.set_index(T).resample('{D|ME|W|6h}')[[N]].{sum|mean|count|max|first|size}()
=d.select_dtypes('{number|object|bool|datetime|category}')
=d.explode(C)
d[N].{sum|mean|min|max|count|var|std|median|prod|sem|skew|kurt|nunique|idxmin|idxmax|argmin|argmax|any|all}()
d[N].{sum|mean|min|max|var|std|median|prod}(skipna=False)
d[O].{min|max|count|nunique|mode}()
d[C].value_counts(dropna={True|False}, sort=False, normalize={True|False})
d[C].value_counts(dropna={True|False}, ascending={True|False}, normalize={True|False}).{tolist()|sort_index(kind='stable')}
d[C].{mode|nunique|isna}()
d.{sum|mean|min|max|count|var|std|median|nunique|any|all}(numeric_only=True)
d.groupby(K, dropna={True|False}, sort={True|False})[N].{AGG}()
d.groupby(K, dropna={True|False}, observed={True|False})[C].{count|size|first|last|nunique}()
d.groupby(K)[O].{min|max|first|last|nunique|count}()
d.groupby(K)[N].quantile({0.5|0.1})
d.groupby(K)[N].agg(['sum', '{mean|min|max|std|first|nunique}'])
d.groupby(K)[[N, N]].agg({'sum'|['sum']|'mean'})
d.groupby(K)[N].apply(lambda g: g.sum())
d.groupby([K, K])[N].{sum|mean|min|max|count|size|std|median}().reset_index()
d.groupby(d[N] > 0)[N].{sum|mean|size|count}()
d.groupby(d[T].dt.{month|year|hour})[N].{sum|mean|size}()
d.groupby(K)[N].{cumsum|cummax|cumcount|shift|ffill|bfill|ngroup}()
d.groupby(K)[N].rolling(2, min_periods={1|2}).{sum|mean|max}().reset_index(drop=True)
d.groupby(K).size().sort_values(ascending=False, kind='stable')
d.groupby(K).ngroups
d.groupby(K)[N].describe()
d.index.{is_monotonic_increasing|size}
d.duplicated().sum()
d.equals(d.copy())
d[N].searchsorted(1)
d[N].rolling(3, closed='{left|both|right|neither}', min_periods=1).{sum|mean|min|max}()
d.set_index(T)[N].sort_index(kind='stable').rolling('{1D|12h}').{sum|mean|count|max}()
d[N].to_numpy().tolist()
d[C].tolist()
d[S].str.cat(sep='|')
d[S].str.get_dummies('-')
pd.factorize(d[C])[0]
d.iloc[{0|-1|2}][C]
d.loc[d.index[0], C]
d[C].iloc[{0|-1|3}]
d.shape
d[N].nlargest({1|2})
d[N].sort_values(ascending={True|False}, kind='stable').head(3)
d[C].argsort(kind='stable')
d[N].cumsum().iloc[-1]
d[N].is_monotonic_increasing
d[N].quantile({0.5|0.25|[0.1, 0.9]}, interpolation='{linear|lower|higher|nearest|midpoint}')
d.drop(columns=[C]).columns.tolist()
set_loc(d, d[N] > {0|1}, C, {0|1.5|2.0|np.nan|True|'x'|-1|300|d[C]|pd.Timestamp('2020-01-01')})
set_loc(d, d[N] > {0|1}, N, {0|1.5|2.0|np.nan|-1|300|d[N]|np.float32(1.5)|d[N].to_numpy()[:1]})
set_loc(d, d[N] > 0, [N, N], {0|2.5|[1, 2]|[1.5, 2]|d[[N, N]]|(d[[N, N]] + 1)})
set_loc(d, d.index[:{0|1|2}], C, {0|1.5|'x'|np.nan})
set_loc(d, slice(None), C, {list(range(len(d)))|d[C]|1|'x'|2.5|np.nan|(np.arange(len(d)) * 1.0)})
set_iloc(d, {0|-1|[0, -1]|slice(0, 2)|[]}, {0|1|[0, 1]|-1}, {0|2.0|1.5|np.nan})
set_iloc(d[[N, N, C]], [0, 1], [0, 1], {[[1, 2], [3, 4]]|np.array([[1, 2], [3, 4]])|[[1.5, 2], [3, 4]]|[5, 6]|[[7], [8]]})
set_iloc(d[[F, F]], slice(None), [1, 0], d[[F, F]])
set_item(d, d[N] > 0, {0|1.5})
set_item(d, C, {d[C]|0|'x'|1.5|d[C].iloc[::-1]|d[N] > 0})
set_item(d, [C, C], {0|d[[C, C]]|d[[N, N]] * 2|[1, 2]})
set_item(d[[N, N]], d[[N, N]] > {0|1}, {0|0.5|-d[[N, N]]|np.nan})
set_rows(d[[N, N]], {99|'new'}, {0|1.5|[1, 2]|[1.5, 2]|d[[N, N]].sum()})
set_rows(d[[C, C]], {0|1}, {0|1.5|np.nan})
d[[N, N]].{where|mask}(d[[N, N]] > {0|1}, {0|-1|0.5|2.0|d[[N, N]] * 2|np.nan})
d[[N, N]].{where|mask}(d[N] > 0, {0|0.5})
d[[N, N]].clip({0|0.5|2.0|None}, {3|2.5|100})
d[N].clip({0|0.5|2.0|d[N]}, {3|2.5|300})
d[N].fillna({0|1.5|0.1|d[N]})
d[C].loc[d.index[{0|-1}]]
d.loc[d.index[{0|-1}], [C, C]]
d.at[d.index[-1], C]
d.truncate({0|1|2}, {3|5|50})
d.reindex([0, 1, 2, 3, 9], method='{ffill|bfill|nearest}', limit={1|2|None})
d.reset_index(drop=True).reindex([-1, 0, 3, 5, 6, 30, 31, 32], method='{ffill|bfill|nearest}', limit={1|2|None})
d[B].diff({1|-1|2})
d[[N, B]].diff()
d[C].ffill(limit_area='{inside|outside}'{|, limit=1})
d[C].bfill(limit_area='{inside|outside}'{|, limit=1})
d.groupby(K)[[C, C]].{first|last}(skipna=False)
d.groupby(K)[S].{sum|max|min|first}()
d.groupby(K)[N].transform(lambda s: {s.mean()|s.max()|s - s.mean()|s.count()|s.iloc[0]})
d[T] {+|-} pd.Timedelta('{1D|100000D}')
d.set_index(T).groupby([pd.Grouper(freq='D'), K])[N].{sum|first|max|count}().reset_index()
d.set_index(T)[N].iloc[{::2|::-1|1:}].index
d[G].map({str.upper|{'u': 1, 'v': 2}|lambda v: 'z'})
pd.CategoricalIndex(d[G]).map({{'u': 1, 'v': 2}|str.upper}).tolist()
pd.Index(d[C]).map({1: 'x'}).tolist()
pd.Index({d[C].dropna()|d['A']}).map(str).tolist()
d[S].str.cat(d[S].iloc[1:], join='{left|outer|inner|right}', na_rep='-')
pd.get_dummies(d[C], dummy_na={True|False}).columns.tolist()
d[[N, N]].{mul|add|sub|rsub}({{'A': 2, 'b': 3}|[1, 2]})
pd.to_datetime(d[T].tolist() + ['2020-01-01', None])
""".strip().splitlines()
# With --wide: columns of objects, names of several levels, functions of groups, bins of time, arrays of texts.
WIDE = """
=d.merge(e, left_on=I, right_index=True, how='{left|right|inner}')
=d.merge(e, left_index=True, right_index=True, how='{left|inner}', suffixes=('_l', '_r'))
=d.merge(e.add_suffix('_2'), how='cross').head(7)
=d.combine_first(e)
=pd.concat([d.iloc[:0], e], ignore_index=True)
=d.groupby(K)[[N, N]].transform({'sum'|'mean'|'rank'|lambda g: g - g.mean()})
=d.assign(new=d.groupby(K)[F].transform(lambda g: {g.fillna(0)|(g - g.mean())|g.iloc[0]|g.rank()|g.shift(1)})) # new:float64
=d[[N, N]].apply({lambda c: c.max() - c.min()|lambda c: c * 2|'sum'})
=d[[I, I]].map(lambda v: v {+ 1|* 2|> 0})
=d[[F, F]].{cumsum|cummax|cummin|diff|shift|rank}()
=d[[N, N]].{add|sub|mul|radd|rsub}({d[N]|1|2.5}, axis=0{|, fill_value=0})
=d[[F, F]].{sum|mean|min|max|std|count|median|var}(axis=1).to_frame('new')
=d[[F, F]].corr()
=d.agg({N: ['sum', '{mean|min|max|std}']})
d[[N, N]].{idxmax|idxmin}()
d.groupby(K)[[N, N]].agg(['{sum|count|first}', 'max']){|.T|.swaplevel(axis=1)|.droplevel(0, axis=1)|.columns.tolist()|.iloc[:, 0]|.fillna(0)|.isna()|.round(1)|.head(1)|.shape|.to_numpy().tolist()|.abs()|.add_prefix('p_')}
d.groupby([K, K], observed=True)[N].sum().{reset_index()|tolist()}
d.groupby(K)[N].agg({len|max|np.mean})
d.groupby(K).{first|last|nunique|count}()
d.set_index(T)[N].resample('{D|ME|W|YE|2D}'{|, closed='right'|, label='right'}).{sum|mean|count|max|min|size|std|median}() if d[T].max() - d[T].min() < pd.Timedelta('900D') else 0
d.set_index(T).sort_index(kind='stable').{first_valid_index|last_valid_index}()
d[G].{value_counts()|astype(str)|isin(['u'])|cat.add_categories(['q'])|cat.rename_categories(str.upper)|shift(1)|nunique()}
d[S].str.{isspace|istitle|isupper|casefold|isnumeric|islower}()
(d[S].dropna().to_numpy() {+ 'x'|* 2}).tolist()
np.{concatenate|hstack}((d[S].dropna().to_numpy(), d[S].dropna().to_numpy())).tolist()
d[S].dropna().to_numpy()[::-1].tolist()
d[P].{tolist()|isna()|notna()|shift(1)|dropna()|iloc[::-1]|count()|apply(str)|where(d['A'] > 0)|head(2)|duplicated()|drop_duplicates()|nunique()|to_dict()|reindex([0, 1, 99])|astype(object)|map(lambda v: v)}
d[P] {==|!=} {'a'|1|d['A']}
=d.assign(new=d[P]) # new:object
=d.assign(new=d[P].where(d[N] > 0)) # new:object
=d.assign(new=d[N].astype(object)) # new:object
=d.dropna(subset=[P])
=d.astype(object).infer_objects()
d[[F, F]].describe()
""".strip().splitlines()


def widen():
    """Adds these, and columns of objects, to what chains are made of."""
    OPERATIONS.extend(WIDE)
    KINDS["object"] = lambda r: r.choice(["[1, 2]", "[]", "(1, 'a')", "'a'", "1", "2.5", "True", "{'k': 1}", "['x', None]", "-3"])
    MISSING["object"] = "None"
    MAKES["object"] = "pd.Series({}, dtype=object)"
    GROUPS["P"].append("object")
    for group in "KC":
        GROUPS[group].append("object")



def choose(rng, text):
    """Each {a|b} replaced by one of its choices, which may hold brackets of their own; {{…}} stands for a dict."""
    out, i = "", 0
    while i < len(text):
        if text[i] != "{":
            out, i = out + text[i], i + 1
            continue
        depth, at, parts = 0, i, [""]
        while True:
            c = text[at]
            depth += (c == "{") - (c == "}")
            if depth == 0:
                break
            if c == "\\":
                at += 1
                parts[-1] += text[at]
            elif c == "|" and depth == 1:
                parts.append("")
            elif at > i:
                parts[-1] += c
            at += 1
        out, i = out + (rng.choice(parts) if len(parts) > 1 else "{" + parts[0] + "}"), at + 1
    return out


def operation(rng, schema):
    while True:
        template = rng.choice(OPERATIONS)
        template, _, change = template.partition(" # ")
        text = choose(rng, template.replace("{AGG}", "{" + AGGREGATES + "}"))
        wanted = re.findall(r"(?<![\w'.\"])[NFISTDBGKCOP](?![\w'\"])", text)
        if any(not any(k in GROUPS[w] for k in schema.values()) for w in wanted):
            continue
        used = set()  # no column twice, where there is a choice

        def name_of(m):
            fitting = [c for c, k in schema.items() if k in GROUPS[m.group()]]
            used.add(name := rng.choice([c for c in fitting if c not in used] or fitting))
            return repr(name)

        text = re.sub(r"(?<![\w'.\"])[NFISTDBGKCOP](?![\w'\"])", name_of, text)
        if "set_" in text and re.search(r"\[('\w+'), \1\]", text):
            continue  # pandas makes the column twice
        cut = re.search(r"pd\.q?cut\(d\['(\w+)'\]", text)
        if cut and schema[cut.group(1)] == "int8":
            continue  # pandas computes the range and the quantiles of the values in int8, where they overflow (differences.md)
        if "prod(" in text and any(schema.get(name) == "wild" for name in re.findall(r"'(\w+)'", text)):
            continue  # whether 1e-300 meets 1e300 before it underflows is a matter of the order, which differs (differences.md)
        if "LEFT" in text:
            text = text.replace("LEFT", repr(rng.choice(list(schema))))
        kept = text.startswith("=")
        after = dict(schema)
        for part in change.split(", ") if change else []:
            name, kind = part.split(":")
            after[name] = kind
        return text.lstrip("="), kept, after


def chain(rng, number):
    rows = rng.choice([0, 1, 2, 3, 5, 8, 8, 12, 12, 30])
    schema = {"A": rng.choice(["int64", "float64", "int8", "Int64", "float32", "uint8"]), "b": rng.choice(GROUPS["N"]), "s": rng.choice(["str", "keys"]), "k": rng.choice(["keys", "int64", "category", "bool", "Int64", "time"])}
    for extra in "tuvw"[: rng.randint(0, 4)]:
        schema[extra] = rng.choice(list(KINDS))
    lines = [f"d = {frame(rng, rows, schema)}"]
    if index := labels(rng, rows):
        lines.append(f"d.index = {index}")
        if rng.random() < 0.3:
            lines.append(f"d.index.name = {rng.choice(['idx', 'A', 'k'])!r}")
    if rows and rng.random() < 0.1:
        lines.append(f"d = pd.concat([d] * {rng.choice([3, 40])}, ignore_index={rng.choice(['True', 'False'])})")
    other = {name: kind for name, kind in schema.items() if rng.random() < 0.7}
    other["A"] = schema["A"]
    other["z"] = rng.choice(list(KINDS))
    lines.append(f"e = {frame(rng, rng.choice([0, 1, 3, 6]), other)}")
    lines.append(f"d = step('{number}.start', d, lambda d: d, True)")
    for k in range(STEPS):
        text, kept, schema = operation(rng, schema)
        lines.append(f"d = step('{number}.{k}', d, lambda d: {text}, {kept})")
    lines.append(f"printed('{number}.{STEPS}', d)")
    return lines


# ---------------------------------------------------------------- comparison
def family(dtype):
    """Types are compared by families: which width, and whether nullable, pandas often finds from the values."""
    if dtype.lower().startswith(("int", "uint", "float")):
        return "number"
    if dtype.startswith("datetime64"):
        return dtype.replace("[s", "[ns").replace("[us", "[ns")  # times have one resolution here (differences.md)
    return {"boolean": "bool", "string": "object"}.get(dtype, dtype)


def same_types(ours, theirs):
    return family(ours) == family(theirs) or "object" in (ours, theirs)


def truths_as_numbers(line):
    """A line of truth values as pandas has it where some are missing and the others became floats, or here where products of objects are numbers (differences.md)."""
    head, bar, values = line.partition("|")
    return head + bar + values.replace("True", "1.0").replace("False", "0.0")


def same_line(a, b, tolerance, around_zero=1e-12):
    if a == b or (a.rstrip().endswith("|") and b.rstrip().endswith("|")):
        return True
    if a.startswith("  says"):
        return True
    pa, pb = a.replace("-0.0", "0.0"), b.replace("-0.0", "0.0")
    heads = [re.match(r"((?:.*dtype|  labels) )(\S+(?: UTC\])?)( .*)", line) for line in (pa, pb)]
    if all(heads) and heads[0].group(2) != heads[1].group(2):
        nothing = set(heads[0].group(3).replace("|", "").split()) == {"-"}  # a column of nothing has the type of what it came from, or the one that pandas found
        if heads[0].group(2) == "boolean" and heads[1].group(2) == "float64" and " -" in pa:
            return same_line(truths_as_numbers(a.replace("boolean", "float64")), b, tolerance, around_zero)
        if heads[1].group(2) == "object" and family(heads[0].group(2)) == "number" and re.search("True|False", pb.partition("|")[2]):
            return same_line(a, truths_as_numbers(b), tolerance, around_zero)
        if not same_types(heads[0].group(2), heads[1].group(2)) and not (nothing and {"boolean", "category"} & {heads[0].group(2), heads[1].group(2)}):
            return False
        pa, pb = heads[0].group(1) + heads[0].group(3), heads[1].group(1) + heads[1].group(3)
    if "dtype" in pa:
        pa, pb = (re.sub(r"(?<=\d)\.0(?= |$)", "", x) for x in (pa, pb))
    shape_a, shape_b = (re.sub(r"\s+", " ", NUMBER.sub("#", line)) for line in (pa, pb))
    if shape_a != shape_b:
        return False
    pairs = zip(map(float, NUMBER.findall(pa)), map(float, NUMBER.findall(pb)), strict=True)
    return all(x == y or abs(x - y) <= tolerance * max(abs(x), abs(y)) + around_zero for x, y in pairs)


def answers(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired as e:
        return {}, f"no end after 300 s; {e.stdout[-300:] if e.stdout else ''}"
    found, at = {}, None
    for line in done.stdout.split("\n"):
        if m := re.match(r"(\d+\.(?:\d+|start)) (.*)", line):
            at = m.group(1)
            found[at] = [m.group(2)]
        elif at and line:
            found[at].append(line)
    return found, "" if done.returncode == 0 else f"status {done.returncode}: {done.stdout[-200:]} {done.stderr[-600:]}"


def frame_before(want, steps, number, k):
    """The lines of the frame that step k of a chain was given."""
    for j in range(k - 1, -1, -1):
        if steps[j].endswith(", True)") and not want.get(f"{number}.{j}", ["raises"])[0].startswith("raises"):
            return want[f"{number}.{j}"]
    return want.get(f"{number}.start", [])


def is_refused(answer):
    """Whether Gasell refused a step by name; ints beyond 64 bits are refused by an OverflowError that names them."""
    return answer[0] in ("raises NotImplementedError", "raises SyntaxError") or answer[0] == "raises OverflowError" and "does not fit an int of 64 bits" in answer[1]


def types_of(lines):
    """The dtypes of the frame that lines show, and of its labels."""
    return [m.group(1) for line in lines if (m := re.match(r"  (?:dtype|labels) (\S+(?: UTC\])?) ", line))]


def prints_alike(got, want, steps, number):
    """Whether the frame that a chain leaves has the types of pandas', and neither texts that are missing nor NaN among nullable floats, which are <NA> here
    (differences.md)."""
    ours, theirs = frame_before(got, steps, number, STEPS), frame_before(want, steps, number, STEPS)
    return types_of(ours) == types_of(theirs) and not any(re.match(r"  says nan among Float64 \[.+?\],", line) for line in theirs) and not any(re.match(r"  (?:dtype (?:object|category)|labels object \S+) \|(?: \S+)* -(?: |$)", line) for line in ours)


def judge(got, want, number, steps, strict):
    """(how a chain ended: "same", "refused", "raised" (pandas did), "known" or "different", the first step whose answers differ with both of them)."""
    tolerance = 2e-6 if any("float32" in line for k in range(STEPS) for line in want.get(f"{number}.{k}", [])) else 1e-9
    for k in range(STEPS + 1):
        name = f"{number}.{k}"
        a, b = got.get(name, ["no answer"]), want.get(name, ["no answer"])
        if is_refused(a):
            return "refused", None
        if a[0].startswith("raises") and b[0].startswith("raises") and not strict:
            continue
        if b[0].startswith("raises") and not strict:
            return "raised", None
        if k == STEPS:
            if not prints_alike(got, want, steps, number) or len(a) == len(b) and all(same_line(x.rstrip(), y.rstrip(), 2e-5) for x, y in zip(a, b)):
                return "same", None
            return "different", (name, a, b)
        powers = re.search(r"\.(?:skew|kurt)\(", steps[k])  # of differences, of which float32 loses more digits, and which leave noise where they are 0
        near = (tolerance * 10, tolerance) if powers else (tolerance,)
        if len(a) != len(b) or not all(same_line(x, y, *near) for x, y in zip(a, b)):
            is_known = is_fault(steps[k], frame_before(want, steps, number, k), frame_before(got, steps, number, k), b, a)
            return ("known", None) if is_known else ("different", (name, a, b))
    return "same", None


def report(name, lines, step, a, b):
    """The lines of the chain that led there, and the lines of the answers that differ."""
    first = len(lines) - STEPS - 1
    told = lines[:first] + [x for x in lines[first : first + step] if x.endswith("True)")] + [lines[first + step]]
    pairs = [(x, y) for x, y in zip(a, b) if not same_line(x, y, 1e-9)] if len(a) == len(b) else [("\n".join(a), "\n".join(b))]
    return f"\nFAILED {name}\n" + "\n".join(told) + "".join(f"\n    pandas: {y}\n    gasell: {x}" for x, y in pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--peer", default=str(ROOT / ".venv/bin/python3"))
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first run: `--first 14 --runs 1` repeats run 14 of a seed")
    parser.add_argument("--refused", action="store_true", help="what was refused, too")
    parser.add_argument("--wide", action="store_true", help="columns of objects, names of several levels, functions of groups, too; differences that are known are among its failures")
    parser.add_argument("--strict", action="store_true", help="exceptions must have the same names")
    options = parser.parse_args()
    if not Path(options.peer).exists():
        print("there is no Python with pandas in .venv (scripts/python_env.sh makes it): nothing is compared")
        return NOT_RUN
    if options.wide:
        widen()
    failed, ends = 0, {"refused": 0, "raised": 0, "known": 0}
    for i in range(options.first, options.first + options.runs):
        rng = random.Random(f"{options.seed} {i}")
        chains = [chain(rng, k) for k in range(CHAINS_A_RUN)]
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "chains.gsl"
            script.write_text(HEAD + "".join("\n".join(lines) + "\n" for lines in chains))
            got, problem = answers([options.gasell, script])
            want, peer_problem = answers([options.peer, "-W", "ignore", script])
        if peer_problem:
            failed += CHAINS_A_RUN  # none was compared
            print(f"the peer failed (run {i}): {peer_problem}")
            continue
        if problem:
            failed += 1
            print(f"gasell failed (run {i}): {problem}")
        for k, lines in enumerate(chains):
            if options.refused:
                for j in range(STEPS):
                    a = got.get(f"{k}.{j}", [""])
                    if is_refused(a):
                        print("REFUSED", lines[-STEPS - 1 + j], a)
            end, difference = judge(got, want, k, lines[-STEPS - 1 :], options.strict)
            if end in ends:
                ends[end] += 1
            if difference:
                failed += 1
                name, a, b = difference
                print(report(f"{options.seed} {i} {name}", lines, int(name.split(".")[1]), a, b))
        sys.stdout.flush()
    print(f"chains that ended early: {ends['refused']} where Gasell refuses a step, {ends['raised']} where pandas raises, {ends['known']} at a known difference")
    print(f"{options.runs * CHAINS_A_RUN - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
