"""Where pandas itself is at fault, or differs as a row of docs/differences.md says: fuzz_frames.py does not compare what a step gives there, nor what comes after it.

A fault is a pattern of a step's text with what must be true of the columns that it names, of the frame before the step. Each is as narrow as it can be told.
"""

import ast
import math
import re

NULLABLE = ("Int64", "Float64", "boolean")
CELL = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\S*|-?\d+ days \S+|\S+""")


class Column:
    def __init__(self, dtype, values):
        self.dtype, self.values = dtype, CELL.findall(values)

    @property
    def missing(self):
        return "-" in self.values

    @property
    def numbers(self):
        """The numbers that are there."""
        return [float(v) for v in self.values if re.fullmatch(r"-?(?:[\d.]+(?:e[+-]?\d+)?|inf)", v)]


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
    return any(1e150 < abs(v) < math.inf for v in columns[name].numbers)


def infinite(columns, name):
    """Sums of groups go on from one to the next with what was lost in rounding, which infinity makes NaN."""
    return any(math.isinf(v) for v in columns[name].numbers) or spread_beyond_floats(columns, name)


COMPARISON = "==|!=|<|>|<=|>="


def nullable_here(text, before, ours, got):
    """Whether a step asks of whole numbers or truth values with missing ones, which are Int64 or boolean here, floats or objects in pandas (differences.md), what
    depends on that: which columns are numbers, whether a column is of texts, comparisons and logic, of which what is missing stays missing, differences of truth
    values, whether numbers stand for them in replace, their quantiles, whether they take other values, the place of missing keys among groups in order, or of a value among them."""
    columns, own = columns_of(before), columns_of(ours)
    both = [(name, own[name], columns[name]) for name in columns if name in own]
    named = [n for n, a, b in both if a.dtype in NULLABLE and b.dtype not in NULLABLE and (a.missing or not a.values) or (a.dtype, b.dtype) == ("bool", "object")]
    if "numeric_only=True" in text or "select_dtypes" in text:
        return any(columns[name].dtype == "object" for name in named)
    if "set_" in text and got[0] == "raises TypeError":
        return any(own[name].dtype == "boolean" and f"'{name}'" in text for name in named)
    asked = r"\['{0}'\]\.str\.|\['{0}'\] (?:{1}) |(?:{1}) d\['{0}'\]|\['{0}'\]\.between\(|\['{0}'\]\.searchsorted\("
    truths = r"\['{0}'\]\.(?:replace|quantile)\(|\['{0}'\] [&|^] |[&|^] d\['{0}'\]|'{0}'.*\.diff\(|groupby\([^)]*'{0}'[^)]*dropna=False"
    return any(re.search((asked + "|" + truths if own[name].dtype in ("bool", "boolean") else asked).format(name, COMPARISON), text) for name in named)


def names_one(text, said, what):
    """Whether a step names one of the columns of which a line says `what`, or takes all columns without naming one."""
    listed = re.search(what + r" (\[.*?\])", said)
    columns = [ast.literal_eval(name) if name.startswith("'") else name for name in ast.literal_eval(listed.group(1))] if listed else []
    asked = text.partition("lambda d: ")[2]
    named = re.findall(r"'(\w+)'", asked)
    return bool(columns) and (not re.search(r"\['|'\]|by=|on=|\('", asked) or any(name in columns for name in named))


def cancelled(columns, name):
    """Values that are nearly equal beside what they are have a spread that rounding them to floats leaves: noise in the last digits, all of it where they are equal."""
    return columns[name].dtype in ("int64", "float64") and are_nearly_equal(columns[name].numbers)


def are_nearly_equal(values):
    values = [v for v in values if math.isfinite(v)]
    return len(values) > 1 and 2**53 <= max(map(abs, values)) and max(values) - min(values) <= 1e-6 * max(map(abs, values))


def cancelled_in_groups(text, columns):
    """The same within groups."""
    asked = re.search(r"groupby\(([^)]*)\)(.*\b(?:var|std|sem|skew|kurt|describe)\b.*)", text)
    if not asked:
        return False
    keys, names = ([columns[n] for n in re.findall(r"'(\w+)'", part) if n in columns] for part in asked.groups())
    for column in names:
        groups = {}
        for value, *key in zip(column.values, *(k.values for k in keys)):
            groups.setdefault(tuple(key), []).append(value)
        if column.dtype in ("int64", "float64") and any(are_nearly_equal(Column(column.dtype, " ".join(values)).numbers) for values in groups.values()):
            return True
    return False


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
    large = [v for v in columns[name].numbers if 1e16 <= abs(v) < math.inf]
    return min(large, default=0) < 0 < max(large, default=0)


def nothing_but_nan(columns, name):
    """Texts of which none is there are floats to pandas where str.get made them (differences.md)."""
    return columns[name].dtype == "float64" and set(columns[name].values) == {"-"}


def nothing(columns, name):
    """A single None is in order to pandas and a single NaN is not; a missing text is one sign here (differences.md)."""
    return columns[name].dtype == "object" and set(columns[name].values) == {"-"}


def wraps_around(text, columns):
    """Unsigned integers written among signed ones of as many bits are negative where these do not hold them (differences.md)."""
    named = [columns[name] for name in re.findall(r"'(\w+)'", text) if name in columns] if "set_" in text else []
    bits = {c.dtype[3:] for c in named if c.dtype.startswith("int")}
    return any(c.dtype.startswith("uint") and c.dtype[4:] in bits and max(c.numbers, default=0) >= 2 ** (int(c.dtype[4:]) - 1) for c in named)


def times(columns, name):
    """Arrays of times are columns of moments and durations here, and tolist() does not make numbers of them (differences.md)."""
    return columns[name].dtype in ("datetime64[ns]", "timedelta64[ns]")


FAULTS = [
    (r"d\['(\w+)'\]\.is_monotonic", nothing),
    (r"d\['(\w+)'\]\.to_numpy\(\)\.tolist\(", times),
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


def rows_of(columns):
    return sorted(zip(*(column.values for column in columns.values())))


def merges_in_wrong_order(text, before, answer, got):
    """Inner merges of keys that repeat on both sides, where left rows have no match, are in no order in pandas (differences.md)."""
    merge = re.search(r"\.merge\(e, (?:on|left_on)='(\w+)'.*how='inner'", text)
    left, given, made = columns_of(before), columns_of(answer), columns_of(got)
    if not merge or "sort=True" in text or merge.group(1) not in left or merge.group(1) not in given:
        return False
    kept = given[merge.group(1)].values
    return len(set(kept)) < len(kept) and not set(left[merge.group(1)].values) <= set(kept) and rows_of(given) == rows_of(made)


def is_fault(text, before, ours, answer, got):
    """Whether pandas is known to be at fault in a step, or to differ; `before`: the lines of the frame that it was given, `ours`: Gasell's, `answer`: what it gave,
    `got`: what Gasell gave."""
    if nullable_here(text, before, ours, got) or drops_by_label(text, before) or cancelled_in_groups(text, columns_of(before)) or merges_in_wrong_order(text, before, answer, got) or wraps_around(text, columns_of(before)):
        return True
    if any(line.startswith("  dtype |V") for line in answer):
        return True  # a list written into no rows of columns that were not there makes columns of bytes without a length
    said = next((line for line in before if line.startswith("  says nan among")), "")
    if names_one(text, said, "nan among Float64"):
        return True  # NaN in nullable floats is a value of its own in pandas 2, which some functions skip and others do not (differences.md)
    if names_one(text, said, "None beside nan") and re.search(r"duplicate|unique|groupby|value_counts|factorize|merge|isin|map|mode", text):
        return True  # None and NaN are different values to pandas, and one sign for what is missing here (differences.md)
    if "set_iloc(d, [], " in text and got[0] == "raises IndexError":
        return True  # where no rows are written, pandas does not look at the columns of frames of one type (differences.md)
    if "d.index.is_monotonic" in text and answer[0] == "False" and before[0].startswith(("frame (0,", "frame (1,")):
        return True  # a slice of an index keeps what pandas knows of the order of the whole
    columns = columns_of(before)
    if "numeric_only=True" in text or "select_dtypes" in text:
        spread, total = (re.search(rf"\.(?:{names})\(", text) for names in ("var|std|sem|skew|kurt", "mean|sum"))
        return any(nothing_but_nan(columns, name) or spread and cancelled(columns, name) or total and spread_beyond_floats(columns, name) for name in columns)
    return any(m.group(1) in columns and fault(columns, m.group(1)) for pattern, fault in FAULTS for m in re.finditer(pattern, text))
