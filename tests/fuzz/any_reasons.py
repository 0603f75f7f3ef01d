"""Why answers of any_numpy.py may differ: rows of docs/differences.md, and what C or NumPy leave open.

A reason explains an answer, or it gives further calls, in which its cause is taken out: unsorted operands are sorted, elements that may stand in any
order are taken instead of their places, infinities are numbers. The difference is explained where those answer the same, or differ for another reason.
"""

import ast
import math
import re

import numpy_peer

RAISED = re.compile(r"^\w*(Error|Exception)\b")
DTYPES_AND_SHAPES = re.compile(r"\b(?:bool|u?int\d+|float\d+|complex\d+)\([\d, ]*\)")
# The C language leaves open what a float that an integer cannot hold becomes.
TO_INTEGERS = re.compile(r"np\.(?:u?int\w*|u?byte|u?short|u?long|astype|as\w*array)\(|dtype=np\.int64")
NOT_HELD = {"complex(np.nan, 1)": "(2+1j)", "complex(np.inf, -0.0)": "(2-0j)", "-np.inf": "2.0", "np.inf": "2.0", "np.nan": "2.0", "1e30": "2.0", "-2.5": "2.5", "-1-1j": "1-1j"}
INFINITIES = {"complex(np.inf, -0.0)": "(2-0j)", "-np.inf": "-2.0", "np.inf": "2.0"}
# Singular values, and what is made of them.
SINGULAR = re.compile(r"np\.linalg\.(?:svd|svdvals|pinv|cond|matrix_rank|lstsq|norm|matrix_norm)\(")
# What sorts leaves one of equal elements, or equal elements in any order: zeros of either sign.
SORTED = re.compile(r"np\.(?:sort|sort_complex|partition|unique\w*|union1d|intersect1d|setdiff1d|setxor1d|median|nanmedian|(?:nan)?(?:quantile|percentile))\(")
# The first or the second of equal operands.
CHOSEN = re.compile(r"np\.(?:f?(?:max|min)|amax|amin|maximum|minimum|nan(?:max|min)|clip)\(")
SPECTRA = re.compile(r"np\.(?:roots|linalg\.eigvals)\(")
SETS = re.compile(r"np\.(?:isin|intersect1d|setdiff1d|setxor1d)\(")
# Sums, and what is made of them, are rounded in another order: by the first power of the elements, or by a higher one.
SUMMED = re.compile(r"np\.(?:nan)?(?:sum|mean|average|trapezoid|trace|linalg\.trace|histogram\w*|percentile|quantile|median|polyadd|polysub|polyint)\(")
PRODUCTS_SUMMED = re.compile(
    r"np\.(?:nan)?(?:var|std|cov|corrcoef|norm|dot|inner|vdot|vecdot|matvec|vecmat|matmul|tensordot|einsum|convolve|correlate|poly\w*|roots"
    r"|linalg\.\w+)\("
)
# Sums of products, whose zeros' signs and whose infinities' other parts depend on the order too.
MULTIPLIED = re.compile(
    r"np\.(?:nan)?(?:prod|dot|inner|vdot|vecdot|matvec|vecmat|matmul|tensordot|einsum|convolve|correlate|poly|polymul|cov|corrcoef|linalg\.\w+)\("
)
GREAT = {"1e30": "3.0"}
NEITHER_GREAT_NOR_SMALL = {"1e30": "3.0", "5e-324": "0.5", "0.0": "1.0", "-0.0": "-1.0"}


# ---- texts of calls ----


def parsed(call):
    """The texts of a call's function, arguments and arguments by name."""
    node = ast.parse(call, mode="eval").body
    text = lambda part: ast.get_source_segment(call, part)
    return text(node.func), [text(a) for a in node.args], {k.arg: text(k.value) for k in node.keywords}


def written(function, arguments, options):
    return f"{function}({', '.join(arguments + [f'{k}={v}' for k, v in options.items()])})"


def replaced(call, values):
    """A call with some of its numbers replaced."""
    pattern = "|".join(rf"(?<![\w.]){re.escape(v)}(?![\w.])" if v[0] != "-" else rf"{re.escape(v)}(?![\w.])" for v in values)
    return re.sub(pattern, lambda m: values[m.group()], call)


def argument(arguments, options, place, name, default):
    return options.get(name, arguments[place] if len(arguments) > place else default)


# ---- texts of answers ----


def of_one_form(got, want):
    """Whether both answer, with the same dtypes and shapes."""
    return not RAISED.match(got) and not RAISED.match(want) and DTYPES_AND_SHAPES.findall(got) == DTYPES_AND_SHAPES.findall(want)


def largest(call):
    """The largest number of a call's arguments."""
    found = [2.0 ** (int(bits) - 1) for bits in re.findall(r"iinfo\('u?int(\d+)'\)", call)] + [1e30] * ("1e30" in call)
    return max(found, default=1.0)


def without_dust(text):
    """A text of complex numbers without imaginary parts that rounding alone may have left."""
    return re.sub(r"[-+]\d+\.?\d*e-(?:1[5-9]|[2-9]\d)j", "+0.j", re.sub(r"\s+", "", text))


def near(got, want, bound):
    """Whether numbers differ by no more than bound."""
    pattern = numpy_peer.NUMBER
    got, want = without_dust(got), without_dust(want)
    if pattern.sub("#", got) != pattern.sub("#", want):
        return False
    pairs = zip(map(float, pattern.findall(got)), map(float, pattern.findall(want)))
    return all(x == y or (x != x and y != y) or abs(x - y) <= bound for x, y in pairs)


def without_signs(text):
    """A text of complex numbers without what the order of products decides."""
    text = re.sub(r"[-+]?(?:nan|inf)\s*[-+]\s*(?:nan|inf|[\d.e+-]+?)j", "#", re.sub(r"\s+", "", text))
    text = re.sub(r"(?<![\w.])-?0(?=[-+][\d.naife+-]+j)", "", text)  # of Python's complex(-0.0, 1), which is written so
    return re.sub(r"-(0\.?0*(?:e\+00)?)(?![\d.])", r"+\1", text).replace("+0", "0")


def by_order_of_products(call, got, want):
    return bool(MULTIPLIED.match(call)) and numpy_peer.same(without_signs(got), without_signs(want))


# ---- reasons, each (why, calls that must answer the same), or None ----


def by_kind_of_answer(call, got, want):
    if got.startswith("NotImplementedError"):
        return "refused by name", []
    if got.startswith("OverflowError") and "64 bits" in got:
        return "an int beyond 64 bits", []
    if re.search("longdouble|float128|object|<U|timedelta64|datetime64", want):
        return "a dtype that is not there", []
    if "unexpected keyword argument" in got or "takes no keyword arguments" in got:
        return "both raise" if RAISED.match(want) else "a parameter that is not there", []
    if RAISED.match(got) and RAISED.match(want):
        return by_exceptions(got, want)
    return None


def by_exceptions(got, want):
    if got.split()[0] == want.split()[0]:
        return "both raise", []
    if got.startswith("AxisError") and re.search("C int|signed integer is greater than maximum", want):
        return "an axis beyond C's int", []
    if "'NoneType' cannot be used as an array" in got:
        return "None, which is an object to NumPy", []
    return None


def fewer_arguments(call):
    """The call with fewer arguments, or None."""
    function, arguments, options = parsed(call)
    if options:
        return written(function, arguments, {})
    return written(function, arguments[:-1], {}) if len(arguments) > 1 else None


def by_cast(call, got, want):
    sibling = replaced(call, NOT_HELD)
    return ("a cast that C leaves open", [sibling]) if TO_INTEGERS.search(call) and sibling != call and of_one_form(got, want) else None


def by_infinities(call, got, want):
    sibling = replaced(call, INFINITIES)
    if sibling == call:
        return None
    if SINGULAR.match(call) and got.startswith("LinAlgError SVD"):
        return "singular values of infinities", [sibling]
    if call.startswith("np.linalg.qr(") and "nan" in got and "nan" in want and of_one_form(got, want):
        return "reflections of infinities", [sibling]
    return None


def by_order_of_elements(call, got, want):
    """Places of equal elements, elements beside the kth, signs of zeros that are equal, eigenvalues."""
    if not of_one_form(got, want):
        return None
    if (SORTED.match(call) or CHOSEN.match(call)) and "-0.0" in call and numpy_peer.same(got.replace("-0.", "0."), want.replace("-0.", "0.")):
        return "zeros in one order of several", []
    if SPECTRA.match(call):
        return "eigenvalues in one order of several", [f"np.sort_complex({call})"]
    match = re.match(r"np\.(argsort|argpartition|partition)\(", call)
    if not match:
        return None
    _, arguments, options = parsed(call)
    partition = "partition" in match.group(1)
    axis = argument(arguments, options, 1 + partition, "axis", "-1")
    operand, axis = (f"np.ravel({arguments[0]})", "0") if axis == "None" else (f"np.atleast_1d({arguments[0]})", axis)
    elements = f"np.take_along_axis({operand}, np.atleast_1d({call}), {axis})" if "arg" in call[:7] else call
    kth = argument(arguments, options, 1, "kth", "0") if partition else None
    return "one order of several", [f"np.take({elements}, {kth}, {axis})", f"np.sort({elements}, {axis})"] if partition else [elements]


def by_search(call, got, want):
    if not call.startswith("np.searchsorted(") or not of_one_form(got, want):
        return None
    function, arguments, options = parsed(call)
    if arguments[0].startswith("np.sort("):
        return None
    return "a search in what is not sorted", [written(function, [f"np.sort({arguments[0]})", *arguments[1:]], options)]


def by_repetition(call, got, want):
    """Of elements that assume_unique= says there are once."""
    if not SETS.match(call) or RAISED.match(got) or RAISED.match(want):
        return None
    function, arguments, options = parsed(call)
    if len(arguments) < 3 or arguments[0].startswith("np.unique("):
        return None
    return "elements that are said to be unique", [written(function, [f"np.unique({a})" for a in arguments[:2]] + arguments[2:], options)]


def by_wrapped_counts(call, got, want):
    """Of counts of eight bits, whose products with lengths wrap around in NumPy."""
    wrapped = call.startswith("np.tile(") and want.startswith("ValueError cannot reshape array of size") and re.search(r"np\.u?int8\)\.reshape\(\([^)]*\)\)\)$", call)
    return ("counts that wrap around", []) if wrapped else None


def by_axes_of_shares(call, got, want):
    """nanquantile along a tuple of axes, of which NumPy puts those of two-dimensional shares elsewhere than it says."""
    match = re.match(r"np\.nan(?:quantile|percentile)\(", call)
    if not match or RAISED.match(got) or RAISED.match(want):
        return None
    function, arguments, options = parsed(call)
    flat = f"np.ravel({arguments[1]})" if len(arguments) > 1 else None
    return ("shares with two axes", [written(function, [arguments[0], flat, *arguments[2:]], options)]) if flat and not flat.startswith("np.ravel(np.ravel") else None


def by_least_axis(call, got, want):
    """NumPy takes the least int32 for None."""
    if not got.startswith("AxisError axis -2147483648"):
        return None
    sibling = re.sub(r"np\.array\(\[np\.iinfo\('int32'\)\.min\], np\.int32\)\.reshape\(\(1?,?\)\)", "None", call)
    return ("the least int32, which is no axis to NumPy", [sibling]) if sibling != call else None


def without_great(call):
    """A call with small numbers for the ends of integers' ranges."""
    return re.sub(r"np\.iinfo\('\w+'\)\.(min|max)", lambda m: "7" if m.group(1) == "max" else "3", call)


def by_conditions(call, got, want):
    """Solutions, whose small parts are rounded as the great ones are."""
    if not re.match(r"np\.(?:roots|poly\w*|linalg\.\w+)\(", call) or not of_one_form(got, want):
        return None
    great = max([abs(float(x)) for x in numpy_peer.NUMBER.findall(want) if math.isfinite(float(x))], default=0)
    return ("equations, rounded", []) if near(got, want, numpy_peer.tolerance(call + want) * great) else None


def by_order_of_sums(call, got, want):
    scale = largest(call)
    power = 1 if SUMMED.match(call) else 2 if PRODUCTS_SUMMED.match(call) else 0
    if not power or scale <= 1e4 or not of_one_form(got, want):
        return None
    digits = 1e-5 if re.search("float32|complex64", want) else 1e-13
    sibling = without_great(replaced(call, GREAT))
    return ("the order of sums", [sibling]) if near(got, want, digits * scale**power) else None


def by_products(call, got, want):
    if by_order_of_products(call, got, want):
        return "the order of products", []
    if re.match(r"np\.(?:nan)?prod\(", call) and of_one_form(got, want):
        return "products that are 0 or infinite on the way", [without_great(replaced(call, NEITHER_GREAT_NOR_SMALL))]
    if re.match(r"np\.(?:geom|log)space\(", call) and "j" in want and numpy_peer.same(without_dust(got), without_dust(want)):
        return "powers, rounded", []
    return None


REASONS = (by_kind_of_answer, by_cast, by_infinities, by_order_of_elements, by_search, by_repetition, by_wrapped_counts, by_axes_of_shares, by_least_axis, by_conditions, by_order_of_sums, by_products)


def reason(call, got, want):
    """Why the answers may differ, and the calls whose answers must be the same then; or None."""
    return next((found for found in (r(call, got, want) for r in REASONS) if found), None)
