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


def infinite(columns, name):
    """Sums of groups go on from one to the next with what was lost in rounding, which infinity makes NaN."""
    return any(v in ("inf", "-inf") or "e+" in v for v in columns[name].values)


def nullable_here(text, before, ours):
    """Whether a step names whole numbers or truth values with missing ones that are Int64 or boolean here, floats or objects in pandas (differences.md)."""
    columns, own = columns_of(before), columns_of(ours)
    by_type = "numeric_only=True" in text or "select_dtypes" in text
    named = [name for name in (columns if by_type else re.findall(r"'(\w+)'", text)) if name in columns and name in own]
    return any(own[name].dtype in NULLABLE and columns[name].dtype not in NULLABLE and (own[name].missing or own[name].values == [""]) for name in named)


def names_nullable_floats(text, columns):
    """Whether a step names a column of nullable floats, or takes all columns without naming one."""
    named = [name for name in re.findall(r"'(\w+)'", text) if name in columns]
    return not named or any(columns[name].dtype == "Float64" and columns[name].missing for name in named)


def cancelled(columns, name):
    """The spread of integers beyond 2**53 is what rounding them to floats leaves: noise in the last digits, all of it where they are equal."""
    return columns[name].dtype in ("int64", "float64") and any(re.fullmatch(r"-?\d{17,}(\.0)?|-?[\d.]+e\+1\d", v) for v in columns[name].values)


def wider_than_its_type(columns, name):
    """Equally wide bins are moved apart by the span of the values, which wraps around in narrow integers."""
    bits = re.fullmatch(r"int(8|16|32)", columns[name].dtype)
    values = [int(v) for v in columns[name].values if bits and v]
    return bool(values) and max(values) - min(values) >= 2 ** (int(bits.group(1)) - 1)


def truths(columns, name):
    """Truth values with a row of numbers put behind them are floats or stay such, as the columns happen to lie in memory."""
    return columns[name].dtype == "bool"


def spread_beyond_floats(columns, name):
    """Sums of numbers of both signs, so large that what floats lose is all that is left of them: it depends on the order in which they are added."""
    large = [float(v) for v in columns[name].values if re.fullmatch(r"-?[\d.]+e\+\d+", v)]
    return min(large, default=0) < 0 < max(large, default=0)


def nothing_but_nan(columns, name):
    """Texts of which none is there are floats to pandas where str.get made them (differences.md)."""
    return columns[name].dtype == "float64" and set(columns[name].values) == {"-"}


def nothing(columns, name):
    """A single None is in order to pandas and a single NaN is not; a missing text is one sign here (differences.md)."""
    return columns[name].dtype == "object" and set(columns[name].values) == {"-"}


FAULTS = [
    (r"d\['(\w+)'\]\.is_monotonic", nothing),
    (r"d\['(\w+)'\]\.(?:var|std|sem|skew|kurt)\(", cancelled),
    (r"d\.groupby\(.*\['(\w+)'\]\.(?:cumsum|transform\('sum'\)|sum)\(", infinite),
    (r"d(?:\.groupby\(.*\))?\['(\w+)'\]\.(?:describe|mean|sum)\(", spread_beyond_floats),
    (r"set_rows\(d\[\['(\w+)', '\w+'\]\], (?:99|'new'),", truths),
    (r"set_rows\(d\[\['\w+', '(\w+)'\]\], (?:99|'new'),", truths),
    (r"pd\.cut\(d\['(\w+)'\], \d", wider_than_its_type),
    (r"d\['(\w+)'\]\.rank\(", ranks_nullable),
    (r"d\['(\w+)'\]\.diff\(", unsigned),
    (r"d\[\['(\w+)', '\w+'\]\]\.diff\(", unsigned),
    (r"d\[\['\w+', '(\w+)'\]\]\.diff\(", unsigned),
    (r"\['(\w+)'\]\.(?:rolling|expanding|ewm)\(.*\.(?:var|std)\(", overflowing_windows),
]


def drops_by_label(text, before):
    """nlargest and nsmallest of a Series leave out all rows of the labels that they have, also where another row of such a label is missing."""
    columns, labels = columns_of(before), [line.split(" | ")[1].split(" ") for line in before if line.startswith("  labels") and " | " in line]
    m = re.search(r"d\['(\w+)'\]\.n(?:largest|smallest)\(", text)
    return bool(m and labels and m.group(1) in columns and columns[m.group(1)].missing and len(set(labels[0])) < len(labels[0]))


def is_fault(text, before, ours, answer):
    """Whether pandas is known to be at fault in a step, or to differ; `before`: the lines of the frame that it was given, `ours`: Gasell's, `answer`: what it gave."""
    if nullable_here(text, before, ours) or drops_by_label(text, before):
        return True
    if any(line.startswith("  dtype |V") for line in answer):
        return True  # a list written into no rows of columns that were not there makes columns of bytes without a length
    if any(line.startswith("  says nan among Float64") for line in before) and names_nullable_floats(text, columns_of(before)):
        return True  # NaN in nullable floats is a value of its own in pandas 2, which some functions skip and others do not (differences.md)
    if any(line.startswith("  says None beside nan") for line in before) and re.search(r"duplicate|unique|groupby|value_counts|factorize|merge|isin|map|mode", text):
        return True  # None and NaN are different values to pandas, and one sign for what is missing here (differences.md)
    if "d.index.is_monotonic" in text and answer[0] == "False" and before[0].startswith(("frame (0,", "frame (1,")):
        return True  # a slice of an index keeps what pandas knows of the order of the whole
    columns = columns_of(before)
    if "numeric_only=True" in text or "select_dtypes" in text:
        spread = re.search(r"\.(?:var|std|sem|skew|kurt)\(", text)
        return any(nothing_but_nan(columns, name) or spread and cancelled(columns, name) for name in columns)
    return any(m.group(1) in columns and fault(columns, m.group(1)) for pattern, fault in FAULTS for m in re.finditer(pattern, text))
