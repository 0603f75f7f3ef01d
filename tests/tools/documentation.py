#!/usr/bin/env python3
"""Measures what is documented, and runs the examples of stdlib/examples.

    documentation.py --gasell PATH                    a table: of each owner how many public names there are, and how many have no signature, description, example
    documentation.py --gasell PATH --missing OWNER    the names themselves
    documentation.py --gasell PATH --record [--peer PYTHON] [FILE…]   writes below each `>>>` statement what it shows, and tells where a peer shows something else

A file of examples has headings `## NAME NAME …`; below one stand a description, where the names have no docstring, then statements behind `>>> ` (further lines behind `... `) and what each shows. Examples share no names.
"""

import argparse
import ast
import builtins
import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "stdlib" / "examples"
MARK = "\x1e"
# What is measured: modules, and classes by an expression that gives one.
OWNERS = [
    "np", "np.ndarray", "np.linalg", "np.fft", "np.random", "np.random.Generator", "np.polynomial", "np.ma", "np.strings",
    "pd", "pd.DataFrame", "pd.Series", "pd.Index", "pd.Timestamp", "pd.Timedelta",
    "type(pd.DataFrame({'a': [1]}).groupby('a'))", "type(pd.Series([1]).groupby([1]))", "type(pd.Series(['a']).str)",
    "type(pd.Series(pd.to_datetime(['2020-01-01'])).dt)", "type(pd.Series(['a'], dtype='category').cat)", "type(pd.Series([1]).rolling(1))",
    "plt", "math", "numba", "numba.cuda", "da", "dd", "dask", "dask.bag",
    "scipy.linalg", "scipy.fft", "scipy.signal", "scipy.sparse",
    "sklearn.linear_model", "sklearn.cluster", "sklearn.preprocessing", "sklearn.metrics", "sklearn.model_selection", "sklearn.decomposition",
    "str", "list", "dict", "set", "bytes", "itertools", "functools", "collections", "re", "json", "statistics",
    "bytearray", "int", "float", "complex", "tuple", "frozenset", "range", "collections.Counter", "collections.deque",
    "csv", "pathlib", "pathlib.Path", "datetime", "datetime.datetime", "datetime.date", "datetime.timedelta", "time", "random", "heapq", "bisect", "dataclasses",
    "enum", "contextlib", "textwrap", "string", "io", "os", "os.path", "sys", "copy", "shutil", "tempfile", "glob", "fnmatch", "hashlib", "base64", "binascii",
    "struct", "zlib", "gzip", "uuid", "fractions", "fractions.Fraction", "decimal", "decimal.Decimal", "abc", "operator", "logging", "argparse", "pprint", "timeit",
    "queue", "threading", "cmath", "h5py", "sklearn.svm", "sklearn.tree", "sklearn.neighbors", "sklearn.naive_bayes", "sklearn.ensemble", "sklearn.pipeline",
    "sklearn.compose", "sklearn.impute", "sklearn.datasets", "sklearn.feature_extraction.text",
]  # fmt: skip
# Helpers of the library's texts that a module shows beside what the peer has.
HELPERS = {
    "np.ma.binary", "np.ma.compared", "np.ma.divided", "np.ma.like", "np.ma.unary",
    "np.polynomial.ABCPolyBase", "np.polynomial.interval", "np.polynomial.made", "np.polynomial.printstyle",
}  # fmt: skip
# Names that every example may take for granted, under Gasell and, by this text, under a peer.
PRELUDE = """
def _show(value):
    if value is not None:
        print(repr(value))
"""
PEER_PRELUDE = """
import importlib, math
for _name, _module in [("np", "numpy"), ("pd", "pandas"), ("plt", "matplotlib.pyplot"), ("da", "dask.array"), ("dd", "dask.dataframe"),]:
    try:
        globals()[_name] = importlib.import_module(_module)
    except ImportError:
        pass
try:
    from numba import njit, jit, prange, vectorize, guvectorize
except ImportError:
    pass
"""
GIVEN = set(dir(builtins)) | {"np", "pd", "plt", "da", "dd", "math", "njit", "jit", "prange", "vectorize", "guvectorize", "device"}


@dataclass
class Statement:
    text: str
    shown: str = ""

    def program(self):
        try:
            ast.parse(self.text, mode="eval")
            return f"_show((\n{self.text}\n))"
        except SyntaxError:
            return self.text


@dataclass
class Example:
    names: list
    line: int
    description: str = ""
    statements: list = field(default_factory=list)

    def unbound(self):
        """Names that the example uses and does not bind."""
        tree = ast.parse("\n".join(s.text for s in self.statements))
        bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        bound |= {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler)) and n.name}
        bound |= {a.arg for a in ast.walk(tree) if isinstance(a, ast.arg)}
        bound |= {(a.asname or a.name).split(".")[0] for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names}
        return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - bound - GIVEN


def read_statements(lines):
    """Statements and what they show."""
    statements = []
    for line in lines:
        if line.startswith(">>> "):
            statements.append(Statement(line[4:]))
        elif (line.startswith("... ") or line == "...") and not statements[-1].shown:
            statements[-1].text += "\n" + line[4:]
        elif statements and (line or statements[-1].shown):
            statements[-1].shown += line + "\n"
    for statement in statements:
        statement.shown = statement.shown.rstrip("\n") + "\n" if statement.shown.strip("\n") else ""
    return statements


def statements_text(statements):
    out = ""
    for statement in statements:
        out += "".join((">>> " if k == 0 else "... ") + line + "\n" if line else "...\n" for k, line in enumerate(statement.text.split("\n"))) + statement.shown
    return out


def read_examples(path):
    """The text before the first heading, and the examples."""
    head, *parts = re.split(r"^## (.*)\n", path.read_text(encoding="utf-8"), flags=re.M)
    examples, line = [], head.count("\n") + 1
    for names, text in zip(parts[::2], parts[1::2]):
        begin = re.search(r"^>>> ", text, re.M)
        description = text[: begin.start() if begin else len(text)].strip("\n")
        examples.append(Example(names.split(), line, description + "\n" if description else "", read_statements(text[begin.start() if begin else len(text) :].splitlines())))
        line += text.count("\n") + 1
    return head.rstrip() + "\n", examples


def write_examples(path, head, examples):
    out = head
    for example in examples:
        out += "\n## " + " ".join(example.names) + "\n" + example.description + statements_text(example.statements)
    path.write_text(out, encoding="utf-8")


def run_examples(command, examples, prelude=PRELUDE, timeout=300):
    """What each statement shows, a list for each example; an exception shows as its last line."""
    program = prelude
    for i, example in enumerate(examples):
        for k, statement in enumerate(example.statements):
            body = "\n".join("    " + line if line else "" for line in statement.program().split("\n"))
            program += f"print('{MARK}{i} {k}')\ntry:\n{body}\nexcept Exception as _error:\n    print(type(_error).__name__ + ': ' + str(_error))\n"
    done = subprocess.run([*command, program] if len(program) < 100_000 else command[:-1] + ["-"], input=program if len(program) >= 100_000 else "", capture_output=True, text=True, timeout=timeout)
    shown = [[""] * len(example.statements) for example in examples]
    for part in done.stdout.split(MARK)[1:]:
        opening, _, text = part.partition("\n")
        i, k = map(int, opening.split())
        shown[i][k] = "\n".join(line.rstrip() for line in text.split("\n")).rstrip("\n") + "\n" if text.strip() else ""
    if done.returncode:
        raise RuntimeError(done.stderr)
    return shown


def check_examples(gasell, path):
    """What is wrong with the examples of a file: messages."""
    _, examples = read_examples(path)
    wrong = []
    for example in examples:
        if not example.statements:
            wrong.append(f"{path.name}:{example.line}: no statement")
        elif unbound := example.unbound():
            wrong.append(f"{path.name}:{example.line}: takes {', '.join(sorted(unbound))} from nowhere")
    for example, shown in zip(examples, run_examples([gasell, "-c"], examples)):
        for statement, text in zip(example.statements, shown):
            if text != statement.shown:
                wrong.append(f"{path.name}:{example.line}: >>> {statement.text}\n{text}--- instead of ---\n{statement.shown}")
    return wrong


def record(gasell, peer, path):
    head, examples = read_examples(path)
    ours = run_examples([gasell, "-c"], examples)
    theirs = run_examples([peer, "-W", "ignore", "-c"], examples, PEER_PRELUDE + PRELUDE) if peer else ours
    for example, mine, other in zip(examples, ours, theirs):
        if unbound := example.unbound():
            print(f"{path.name}: {' '.join(example.names)}: takes {', '.join(sorted(unbound))} from nowhere")
        lacks = any(re.match(r"(ModuleNotFoundError|ImportError|NameError|AttributeError): ", text) for text in other)
        for statement, text, by_peer in zip(example.statements, mine, other):
            if text != by_peer and not lacks and not text.startswith("NotImplementedError: "):
                print(f"{path.name}: {example.names[0]}: >>> {statement.text}\nGasell {text}peer   {by_peer}")
            statement.shown = text
            if re.match(r"(?!NotImpl)\w+(Error|Exception): ", statement.shown):
                print(f"{path.name}: {example.names[0]}: >>> {statement.text}\nshows {statement.shown}")
    write_examples(path, head, examples)


def described(gasell, names):
    """What `gasell help --json` says of each name."""
    found = []
    for begin in range(0, len(names), 500):
        done = subprocess.run([gasell, "help", "--json", *names[begin : begin + 500]], capture_output=True, text=True, timeout=300)
        found += [json.loads(line) for line in done.stdout.splitlines()]
    return found


def measure(gasell, owners=OWNERS):
    """{owner: [documentation of each public name]}."""
    wholes = described(gasell, owners)
    if owners is OWNERS:
        wholes.append({"name": "builtins", "members": []})
    names = [name for name in dir(builtins) if name[0].islower()]
    return {one["name"]: described(gasell, [n for member in one["members"] if (n := f"{one['name']}.{member}") not in HELPERS]) if one["members"] else described(gasell, names) for one in wholes}


def lacks(one):
    """What of "signature", "description", "example" a public name has not, and should: a module has no example of its own; a constant, and a class that is not
    called (abstract ones, exceptions), no signature."""
    missing = []
    if one["kind"] == "function" and not one["signature"]:
        missing.append("signature")
    if one["kind"] in ("function", "class", "property") and not one["description"]:
        missing.append("description")
    if one["kind"] != "module" and not one["example"]:
        missing.append("example")
    return missing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", required=True)
    parser.add_argument("--missing", metavar="OWNER")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--peer")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    if options.record:
        for path in options.files or sorted(EXAMPLES.glob("*.txt")):
            record(options.gasell, options.peer, path)
        return 0
    found = measure(options.gasell, [options.missing] if options.missing else OWNERS)
    if options.missing:
        for one in found[options.missing]:
            if missing := lacks(one):
                print(f"{one['name']} ({one['kind']}): {', '.join(missing)}")
        return 0
    print(f"{'owner':60} names  no signature  no description  no example")
    total = [0] * 4
    for owner, names in found.items():
        numbers = [len(names)] + [sum(what in lacks(one) for one in names) for what in ("signature", "description", "example")]
        total = [a + b for a, b in zip(total, numbers)]
        print(f"{owner:60} {numbers[0]:5} {numbers[1]:13} {numbers[2]:15} {numbers[3]:11}")
    print(f"{'all':60} {total[0]:5} {total[1]:13} {total[2]:15} {total[3]:11}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
