"""Where pandas itself is at fault, or differs as a row of docs/differences.md says: fuzz_frames.py does not compare what a step gives there, nor what comes after it.

A fault is a pattern of a step's text with what must be true of the columns that it names, of the frame before the step. Each is as narrow as it can be told.
"""

import ast
import re

NULLABLE = ("Int64", "Float64", "boolean")


class Column:
    def __init__(self, dtype, values):
        self.dtype, self.values = dtype, values.split(" ")

    @property
    def missing(self):
        return "-" in self.values


def columns_of(lines):
    """{name: Column} of a frame as the chains print it."""
    if not lines or not (head := re.match(r"frame \(.*\) names (\[.*\])$", lines[0])):
        return {}
    columns = [re.match(r"  dtype (\S+(?: UTC\])?) \| ?(.*)", line) for line in lines[1:]]
    names = [ast.literal_eval(n) if n.startswith("'") else n for n in ast.literal_eval(head.group(1))]
    return {name: Column(*m.groups()) for name, m in zip(names, [m for m in columns if m])}


def ranks_nullable(columns, name):
    """rank() of a nullable Series ranks what is missing by the number that stands behind it."""
    return columns[name].dtype in NULLABLE and columns[name].missing


def unsigned(columns, name):
    """diff() of unsigned integers wraps around below 0 (differences.md)."""
    return columns[name].dtype.startswith("uint")


def overflowing_windows(columns, name):
    """Windows' variances go from one to the next: once a square was beyond what floats hold, all that come after are lost."""
    return any(abs(float(v)) > 1e150 for v in columns[name].values if re.fullmatch(r"-?[\d.]+e\+?\d+", v))


def quantile_of_int8(columns, name):
    """NumPy's quantiles of int8 overflow where values are far apart; pandas asks for them group by group in describe() alone."""
    return columns[name].dtype == "int8"


def infinite(columns, name):
    """Sums of groups go on from one to the next with what was lost in rounding, which infinity makes NaN."""
    return any(v in ("inf", "-inf") or "e+" in v for v in columns[name].values)


def truth_among_missing(columns, name):
    """Truth values beside missing ones are objects in pandas, of which & and | know no third value (differences.md)."""
    return columns[name].dtype == "object" and columns[name].missing and not any("'" in v for v in columns[name].values)


def nothing_but_nan(columns, name):
    """Texts of which none is there are floats to pandas where str.get made them (differences.md)."""
    return columns[name].dtype == "float64" and set(columns[name].values) == {"-"}


def nothing(columns, name):
    """One missing text, which str.find and str.count make an object of: they make missing integers here (differences.md)."""
    return set(columns[name].values) == {"-"}


FAULTS = [
    (r"d\['(\w+)'\]\.is_monotonic", nothing),
    (r"d\.groupby\(.*\['(\w+)'\]\.describe\(", quantile_of_int8),
    (r"d\.groupby\(.*\['(\w+)'\]\.(?:cumsum|transform\('sum'\)|sum)\(", infinite),
    (r"d\['(\w+)'\] [&|^] ", truth_among_missing),
    (r" [&|^] d\['(\w+)'\]", truth_among_missing),
    (r"d\['(\w+)'\]\.rank\(", ranks_nullable),
    (r"d\['(\w+)'\]\.diff\(", unsigned),
    (r"d\[\['(\w+)', '\w+'\]\]\.diff\(", unsigned),
    (r"d\[\['\w+', '(\w+)'\]\]\.diff\(", unsigned),
    (r"\['(\w+)'\]\.(?:rolling|expanding|ewm)\(.*\.(?:var|std)\(", overflowing_windows),
]


def is_fault(text, before, answer):
    """Whether pandas is known to be at fault in a step; `before`: the lines of the frame that it was given, `answer`: those that it gave."""
    if any(line.startswith("  dtype |V") for line in answer):
        return True  # a list written into no rows of columns that were not there makes columns of bytes without a length
    if any(line.startswith("  says nan among Float64") for line in before):
        return True  # NaN in nullable floats is a value of its own in pandas 2, which some functions skip and others do not (differences.md)
    columns = columns_of(before)
    if "numeric_only=True" in text or "select_dtypes" in text:
        return any(nothing_but_nan(columns, name) for name in columns)
    return any(m.group(1) in columns and fault(columns, m.group(1)) for pattern, fault in FAULTS for m in re.finditer(pattern, text))
