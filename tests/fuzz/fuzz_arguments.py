#!/usr/bin/env python3
"""Calls every function and method that compiled functions have with arguments of every kind, and operates on such values; calls functions that decorators of numba made from
outside with the same: whatever they are, a call gives a value or a Python exception; the process never ends by a signal and nothing speaks of an internal error.

    fuzz_arguments.py --share 40 --seed 1    what ctest runs: every fortieth of the calls
    fuzz_arguments.py                        all of them
    fuzz_arguments.py --filter 'numpy.var$'  those of the functions whose names match; --list prints names

The names are those of the tables in compiler/functions/ and of the texts in its prelude/. Many calls share a script, each inside its own try; a script that ends by a signal is
cut down to the call, which is kept under build/fuzz. The closing line is `N passed, N failed`.
"""

import argparse
import concurrent.futures
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FUNCTIONS = ROOT / "compiler/functions"
CALLS_A_SCRIPT = 60
TIMEOUT_S = 60
ADDRESS_SPACE = 8 << 30
INTERNAL = re.compile(r"SystemError|internal error|loop IR|std::|llvm|LLVM|Assertion `|Sanitizer|runtime error:")

# What a call can be given: a parameter of the function, or an expression in it.
PARAMETERS = {
    "a": "np.arange(4.0)", "m": "np.arange(6.0).reshape(2, 3)", "q": "np.array([[2.0, 1.0], [1.0, 3.0]])", "point": "np.array(1.5)", "nothing": "np.zeros(0)", "c": "np.array([1 + 2j, 3j])",
    "b": "np.array([True, False, True, True])", "k": "np.array([2, 0, 1, 3])", "h": "np.ones((2, 2, 2), np.float32)", "u": "np.arange(3).astype(np.uint8)", "n": "2", "x": "1.5", "t": "True",
    "z": "1 + 2j", "small": "np.uint8(3)", "pair": "(1, 2.5)", "text": "'abc'", "none": "None", "rng": "np.random.default_rng(1)",
}
LOCALS = {
    "items": "[1.0, 2.0, 3.0]", "arrays": "[a, a]", "nested": "[[1, 2], [3]]", "absent": "n if n > 5 else None", "present": "n if n < 5 else None", "no_array": "a if n > 5 else None",
    "table": "{1: 2.0, 3: 4.0}", "keys": "{1, 2}",
}
ARGUMENTS = [
    *PARAMETERS, *LOCALS, "None", "'x'", "'float64'", "range(3)", "(1, 2)", "()", "((1, 2), (3, 4))", "(a, a)", "(m, m)", "(a, m)", "(1.5, None)", "(None,)", "('x', 1)", "(c, 1)", "[1, 2, 3]", "[a, a]", "[]",
    "[None]", "zip(a, a)", "enumerate(a)", "reversed(items)", "a.flat", "np.ndindex(2, 2)", "table.items()", "np.float64", "np.int8", "len", "np.sum", "(lambda v: v)", "-1", "0", "1", "1.5", "True", "1j", "-129", "2**62",
    "m.T", "a[::2]", "m[:, 0]", "a[:0]", "a + 1", "k > 1", "c * 2", "np.int8(3)", "np.nan", "...", "slice(0, 2)",
]
FIRST = ["a", "m", "q", "k", "c", "b", "point", "nothing", "n", "x", "(a, a)", "(2, 3)", "items"]
SECOND = ["1", "0", "a", "k", "m", "x", "None"]
RECEIVERS = {"": ["a", "m", "k", "c", "point", "nothing", "b", "m.T", "a + 1", "h", "x", "n", "z", "pair"], "array": ["a", "m", "k", "point", "nothing", "m.T"], "list": ["items", "nested", "arrays", "[]"],
             "dict": ["table", "{}"], "set": ["keys", "set()"], "generator": ["rng"]}
ATTRIBUTES = ["T", "flat", "real", "imag", "shape", "size", "ndim", "dtype", "strides", "nbytes", "itemsize"]
UNARY = ["-{}", "~{}", "+{}", "not {}", "[v for v in {}]", "{{v for v in {}}}", "{{v: 1 for v in {}}}", "{}[0]", "{}[-1]", "{}[1:]", "{}[::-1]", "{}[...]", "{}[None]", "{}[:, 0]", "{}()", "(1, {})", "[{}]", "{{1: {}}}",
         "{{{}}}", "{} is None", "f'{{{}}}'", "({} if n > 5 else 1)", "len([{}])", "(lambda v: v)({})", "(lambda *v: v)(*{})"]
BINARY = [f"{{}} {op}{{}}" for op in ("+ ", "- ", "* ", "/ ", "// ", "% ", "** ", "@ ", "<< ", ">> ", "& ", "| ", "^ ", "== ", "!= ", "< ", "<= ", "> ", ">= ", "in ", "not in ", "is ", "and ", "or ")]
BINARY += ["{}[{}]", "{}[{}, 0]", "{}[{}:]", "{}[::{}]", "({} if {} else 1)", "[{}, {}]", "{{{}: {}}}"]
STATEMENTS = ["v = {}", "for v in {}: pass", "v, w = {}", "v, (w, x) = {}", "assert {}", "while {}: break", "raise {}", "print({})", "v = 1; v = {}; w = v", "with {}: pass"]
TWO = ["v = {}; v {}= {}".replace("{}=", f"{op}=") for op in ("+", "-", "*", "/", "//", "%", "**", "&", "<<", "@")] + ["v = {}; v[0] = {}", "v = {}; v[:] = {}", "v = {}; v[{}] = 1", "v = {}; v[{}] += 1",
       "v = {}; del v[{}]", "for v in {}: w = {}", "v = {}; v.T[0] = {}", "v = {}; v.append({})", "v = []; v.append({}); v.append({})"]
MODULES = {"numpy": "np", "math": "math", "cmath": "cmath", "operator": "operator", "heapq": "heapq", "numba": "numba"}
OF_KERNELS = "numba.cuda."
FROM_OUTSIDE = "outside: "
OPERATIONS = ("expressions", "statements")
# What decorators make, called from outside: by parameters and bodies. Names of types stand in signatures.
OUTSIDE = "called from outside"
MADE = {
    "plain": ("@njit", "x, y", "return x, y"), "sums": ("@njit", "x, y", "return x + y"), "items": ("@njit", "x, y", "return x[y]"), "parallel": ("@njit(parallel=True)", "x, y", "return np.sum(x * 2) + y"),
    "declared": ("@njit('float64(float64, int64)')", "x, y", "return x + y"), "arrays": ("@njit('float64[:](float64[:], int64)')", "x, y", "return x[y:]"), "narrow": ("@njit('uint8(uint8, int8)')", "x, y", "return x + y"),
    "maybe": ("@njit('optional(float64)(optional(float64), optional(int64))')", "x, y", "return x if y is None else None"), "texts": ("@njit('int64(unicode_type, int64)')", "x, y", "return len(x) + y"),
    "maybe_array": ("@njit('float64(optional(float64[:]), UniTuple(int64, 2))')", "x, y", "return 0.0 if x is None else x[y[0]]"), "locals": ("@njit(locals={'z': numba.float32})", "x, y", "z = x; return z, y"),
    "unary": ("@vectorize", "x", "return x * 2"), "binary": ("@vectorize(['float64(float64, float64)', 'int8(int8, int8)'])", "x, y", "return x + y"), "target": ("@vectorize(['c16(c16)'], target='parallel')", "x", "return x + 1"),
    "rows": ("@guvectorize(['(float64[:], float64[:])'], '(n)->(n)')", "x, out", "out[0] = x[0]"), "total": ("@guvectorize(['(float64[:], int64, float64[:])'], '(n),()->()')", "x, y, out", "out[0] = x.sum() + y"),
    "matrix": ("@guvectorize('(n,m),(m)->(n)')", "x, y, out", "out[0] = x[0, 0] + y[0]"), "neighbours": ("@stencil", "x", "return x[-1] + x[1]"), "flat": ("@stencil(cval=1.5, standard_indexing=('y',))", "x, y", "return x[0, 0] + y[0]"),
    "wide": ("@stencil(neighborhood=((-2, 1),))", "x, y", "return x[-2] + x[1] * y"), "wrapped": ("@stencil('wrap')", "x", "return x[-1] + x[1]"), "kernel": ("@cuda.jit", "x, y", "x[0] = y"),
}
VALUES = [
    "None", "'abc'", "''", "'é'", "(1, 2.5)", "()", "(np.arange(2.0), 1)", "(None,)", "1", "-1", "2**62", "1.5", "np.nan", "True", "1j", "np.complex64(1j)", "np.int8(-3)", "np.uint64(2**63)", "np.float32(1.5)", "np.bool_(True)",
    "np.array(1.5)", "np.zeros(0)", "np.zeros((0, 3))", "np.arange(4.0)", "np.arange(4)", "np.arange(8.0)[::2]", "np.arange(8.0)[::-1]", "np.arange(6.0).reshape(2, 3)", "np.arange(6.0).reshape(2, 3).T", "np.ones((2, 2, 2))",
    "np.arange(4, dtype=np.float32)", "np.arange(4, dtype=np.uint8)", "np.array([1 + 2j, 3])", "np.array([True, False])", "np.broadcast_to(1.5, (2000, 3000))", "np.broadcast_to(np.arange(3.0), (2, 3))", "[1, 2]", "[1.5, 'x']", "[]", "[[1], [2]]",
    "[np.arange(2.0)]", "{1: 2}", "{1, 2}", "set()", "{}", "Dict.empty(numba.int64, numba.float64)", "List([1.5])", "List()", "np.random.default_rng(1)", "range(3)", "len", "np.sum", "np.float64", "np.dtype('i4')", "slice(1, 2)", "...", "plain", "neighbours", "unary",
    "rows", "print", "lambda v: v", "np", "ValueError", "ValueError('x')", "iter([1])", "np.datetime64('2024-01-02')", "np.array(['2024-01-02'], dtype='M8[ns]')", "pd.Series([1.0, 2.0])", "pd.DataFrame({'a': [1.0]})", "np.array(['a', 'b'])",
]


def library():
    """Every name of the library: rows of the tables, which are `{"numpy.sum…`, and functions of the texts."""
    names = set()
    for path in sorted(FUNCTIONS.glob("*.cpp")):
        if not re.match(r"library|elementwise", path.name):
            continue
        text = path.read_text(encoding="utf-8")
        for row in re.findall(r'\{"([\w.]+)["(]', text):
            if path.name == "library_cuda.cpp":
                names.add(OF_KERNELS + row)
            elif path.name != "elementwise.cpp":
                names.add(row)
        if path.name == "elementwise.cpp":
            numpy, math = text.split("math_table()", 1)
            names |= {"numpy." + row for row in re.findall(r'\{"(\w+)", \{', numpy)} | {"math." + row for row in re.findall(r'\{"(\w+)", \{', math)}
    for path in sorted((FUNCTIONS / "prelude").glob("*.gsl")):
        module = path.stem.split("_")[0]
        for row in re.findall(r"^def ([a-z]\w*)\(", path.read_text(encoding="utf-8"), re.M):
            names.add(row if module == "builtins" else f"{module}.{row}")
    names |= {"int", "float", "bool", "complex", "str", "numpy.float32", "numpy.int8", "numpy.complex64", "numpy.bool_", *OPERATIONS, OUTSIDE}
    return sorted(name for name in names if not name.startswith("gasell") and (name[0] == "." or name.split(".")[0] in (*MODULES, *RECEIVERS) or "." not in name))


def ways_to_call(name):
    """The texts that stand before the arguments."""
    module, _, rest = name.partition(".")
    if module in RECEIVERS and rest:
        return [f"({receiver}).{rest}" for receiver in RECEIVERS[module]]
    return [f"{MODULES[module]}.{rest}" if rest else name]


def operations(name):
    rng = random.Random(name)
    one, two = (UNARY, BINARY) if name == "expressions" else (STATEMENTS, TWO)
    for value in ARGUMENTS:
        for form in one:
            yield form.format(f"({value})" if form.count("{}") == 1 and form[0] in "-~+{" and len(form) < 12 else value)
        for form in two:
            for other in rng.sample(ARGUMENTS, 8):
                yield form.format(f"({value})", other)
        for attribute in ATTRIBUTES if name == "expressions" else ():
            yield f"({value}).{attribute}"


def calls_from_outside():
    rng = random.Random(OUTSIDE)
    for name, (_, parameters, _) in MADE.items():
        callee = f"{name}[1, 2]" if name == "kernel" else name
        for value in VALUES:
            if parameters == "x":
                yield f"{callee}({value})"
            for other in rng.sample(VALUES, 12):
                yield f"{callee}({value}, {other})"
                if "out" in parameters:
                    yield f"{callee}({value}, {other}, {rng.choice(VALUES)})"
                if rng.random() < 0.3:
                    yield f"{callee}({value}, out={other})" if name != "kernel" else f"{callee}({other}, {value})"


def made_text():
    return "import pandas as pd\nfrom numba import vectorize, guvectorize, stencil\nfrom numba.typed import Dict, List\n" + "".join(
        f"{decorator}\ndef {name}({parameters}):\n" + "".join(f"    {line}\n" for line in body.split("; ")) for name, (decorator, parameters, body) in MADE.items())


def calls_of(name):
    if name == OUTSIDE:
        yield from (FROM_OUTSIDE + call for call in calls_from_outside())
        return
    if name in OPERATIONS:
        yield from operations(name)
        return
    rng = random.Random(name)
    for callee in ways_to_call(name):
        yield f"{callee}()"
        for argument in ARGUMENTS:
            yield f"{callee}({argument})"
            if "." in name and name.split(".")[0] in RECEIVERS:
                continue
        for first in FIRST if callee.split(".")[0] in MODULES.values() or "." not in callee else SECOND:
            for argument in rng.sample(ARGUMENTS, 12):
                yield f"{callee}({first}, {argument})"
            for keyword in rng.sample(("axis", "dtype", "out", "k", "size", "shape", "key", "start", "ddof"), 2):
                yield f"{callee}({first}, {keyword}={rng.choice(ARGUMENTS)})"
        for many in (3, 3, 3, 3, 3, 3, 4, 4, 5, 7):
            yield f"{callee}({', '.join(rng.choice(ARGUMENTS if rng.random() < 0.6 else FIRST) for _ in range(many))})"


def is_statement(call):
    return re.match(r"(v|for|assert|while|raise|del|print|with)\b", call) is not None


def text_of(number, call, kernel):
    if call.startswith(FROM_OUTSIDE):
        lines = ["try:", f"    str({call.removeprefix(FROM_OUTSIDE)})"]
        return "\n".join([*lines, *said(number)])
    names = set(re.findall(r"\w+", call))
    locals_of = [f"    {name} = {value}" for name, value in LOCALS.items() if name in names]
    used = names | set(re.findall(r"\w+", " ".join(locals_of)))
    parameters = [name for name in PARAMETERS if name in used]
    given = ", ".join(PARAMETERS[name] for name in parameters)
    lines = ["@cuda.jit" if kernel else "@njit", f"def call_{number}({', '.join(parameters)}):", *locals_of, *(f"    {part}" for part in call.split("; ") if is_statement(call) or kernel), *([] if is_statement(call) or kernel else [f"    return {call}"]), "try:"]
    lines += [f"    call_{number}[1, 2]({given})", "    cuda.synchronize()"] if kernel else [f"    call_{number}({given})"]
    return "\n".join([*lines, *said(number)])


def said(number):
    return f"    print({number}, flush=True)", "except BaseException as e:", f"    print({number}, type(e).__name__, str(e)[:300].replace('\\n', ' '), flush=True)", ""


def script_of(calls, kernel):
    return "import math, cmath, operator, heapq, numba\nimport numpy as np\nfrom numba import njit, cuda\n" + (made_text() if any(call.startswith(FROM_OUTSIDE) for _, call in calls) else "") + "".join(text_of(k, call, kernel) for k, call in calls)


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(options, calls, kernel):
    """The status and what was said of each call, by number."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "calls.gsl"
        script.write_text(script_of(calls, kernel), encoding="utf-8")
        env = {name: value for name, value in os.environ.items() if not name.startswith("GASELL") or name == "GASELL_CHECK"}
        env.update(LC_ALL="C.UTF-8", XDG_CACHE_HOME=options.cache, GASELL_MEMORY="1GiB", GASELL_CACHE="0", MALLOC_CHECK_="3")
        command = [options.gasell, *(["--device", "sim:1"] if kernel else []), script.name]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, cwd=folder, env=env, preexec_fn=None if options.no_limit else limit)
        except subprocess.TimeoutExpired:
            return "does not end", {}
    said = {}
    for line in done.stdout.splitlines():
        number, _, what = line.partition(" ")
        if number.isdigit():
            said[int(number)] = what
    if done.returncode < 0:
        return f"ends by signal {-done.returncode}: {done.stderr[-400:]}", said
    return f"ends with status {done.returncode}: {done.stderr[-400:]}" if done.returncode or len(said) < len(calls) else "", said


def check(options, calls, kernel):
    """Of calls in one process, those that go wrong and how."""
    status, said = run(options, calls, kernel)
    wrong = {number: what for number, what in said.items() if INTERNAL.search(what)}
    if not status:
        return wrong
    if len(calls) == 1:
        return {calls[0][0]: status}
    at = min(len(said), len(calls) - 1)  # most often the one that said nothing is to blame
    if blamed := check(options, calls[at:at + 1], kernel):
        return wrong | blamed | (check(options, calls[at + 1:], kernel) if calls[at + 1:] else {})
    halves = calls[:len(calls) // 2], calls[len(calls) // 2:]
    found = check(options, halves[0], kernel) | check(options, halves[1], kernel)
    return found or {calls[0][0]: f"{status} (only together with {len(calls) - 1} others)"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--share", type=int, default=1, help="only one of so many calls")
    parser.add_argument("--seed", type=int, default=1, help="which of them")
    parser.add_argument("--filter", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--no-limit", action="store_true", help="no limit of the address space (sanitizers map terabytes)")
    options = parser.parse_args()
    options.gasell = str(Path(options.gasell).resolve())
    names = [name for name in library() if re.search(options.filter, name)]
    if options.list:
        print("\n".join(names))
        return 0
    chosen = {False: [], True: []}
    for name in names:
        for call in calls_of(name):
            if zlib.crc32(f"{options.seed} {call}".encode()) % options.share == 0:
                chosen[name.startswith(OF_KERNELS)].append(call)
    failed = passed = 0
    with tempfile.TemporaryDirectory() as options.cache, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for kernel, calls in chosen.items():
            numbered = list(enumerate(calls))
            scripts = [numbered[k:k + CALLS_A_SCRIPT] for k in range(0, len(numbered), CALLS_A_SCRIPT)]
            for wrong in pool.map(lambda script: check(options, script, kernel), scripts):
                for number, what in sorted(wrong.items()):
                    failed += 1
                    kept = ROOT / "build/fuzz" / f"arguments-{failed}.gsl"
                    kept.parent.mkdir(parents=True, exist_ok=True)
                    kept.write_text(script_of([(0, calls[number])], kernel), encoding="utf-8")
                    print(f"FAILED {calls[number]}, kept as {kept.name}: {what.strip()}", flush=True)
            passed += len(calls)
    print(f"{passed - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
