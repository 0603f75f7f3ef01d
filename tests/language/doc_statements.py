"""Runs the `>>>` statements of docstrings under Gasell and compares them with what a peer gave: what dask_statements.py and pandas_statements.py share.

A prelude is the text that defines the names that docstrings take for granted, `_show(value)` for what an expression gives, `_show_made(value)` for what is assigned to
a name, and `_is_random`. The peer's text defines `public()`, which yields (section, name, docstring), and `prepare()`, which is called after the prelude; RUN, behind it,
prints {section: {name: [[source, True for an expression, or the name that is assigned to, or False, output], …]}} of the statements that run there.
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import run

MARK = "\x1e"
TIMEOUT_S = 120
RANDOM = r"random|timeseries"  # what says that a docstring draws random numbers: the peers ask it, too

RUN = r'''
import ast, contextlib, doctest, io, json, os, signal, sys, tempfile

class TooLong(Exception):
    pass

def expired(*_):
    raise TooLong()

signal.signal(signal.SIGALRM, expired)
found = {}
for section, name, doc in public():
    scope = {}
    try:
        examples = doctest.DocTestParser().get_examples(doc)
    except ValueError:  # no doctest
        continue
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        exec(prelude, scope)
        prepare()
        scope["_is_random"] = any("random" in e.source or "timeseries" in e.source for e in examples)
        kept = []
        for example in examples:
            source = "\n".join(line.split("  # doctest:")[0].rstrip() for line in example.source.rstrip("\n").split("\n"))
            out = io.StringIO()
            try:
                try:
                    code, expression = compile(source, "<doc>", "eval"), True
                except SyntaxError:
                    code, expression = compile(source, "<doc>", "exec"), False
                signal.alarm(20)
                with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                    if expression:
                        scope["_show"](eval(code, scope))
                    else:
                        exec(code, scope)
                        tree = ast.parse(source).body
                        if len(tree) == 1 and isinstance(tree[0], ast.Assign) and isinstance(tree[0].targets[0], ast.Name):
                            expression = tree[0].targets[0].id
                            scope["_show_made"](scope[expression])
            except BaseException:
                continue
            finally:
                signal.alarm(0)
            kept.append([source, expression, out.getvalue()])
        os.chdir("/")
    found.setdefault(section, {})[name] = kept
json.dump(found, sys.stdout)
'''


def ask_peer(python, peer, prelude):
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([python, "-I", "-c", peer + RUN], input=prelude, capture_output=True, text=True, timeout=1800, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def script_of(prelude, statements, left_out):
    """The text that runs statements one by one, and where each one's lines begin."""
    is_random = any(re.search(RANDOM, source) for source, _, _ in statements)
    lines, starts = prelude.replace("_is_random = False", f"_is_random = {is_random}").rstrip("\n").split("\n"), {}
    for number, (source, expression, _) in enumerate(statements):
        if number in left_out:
            continue
        starts[number] = len(lines)
        body = f"_show(\n{source}\n)" if expression is True else f"{source}\n_show_made({expression})" if expression else source
        lines += [f"print('\\x1e{number}')", "try:", *["    " + line for line in body.split("\n")], "except Exception as _error:", "    print('\\x1e!', type(_error).__name__, _error)"]
    lines.append("print('\\x1eend')")
    return "\n".join(lines) + "\n", starts


def run_gasell(gasell, prelude, statements):
    """(output, error) of each statement. One that the whole text cannot be compiled with, or that ends the process, is left out of the next run."""
    answers, left_out = {}, {}
    while len(left_out) < len(statements):
        text, starts = script_of(prelude, statements, left_out)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "doc.gsl").write_text(text, encoding="utf-8")
            try:
                done = subprocess.run([gasell, "--json-errors", "doc.gsl"], capture_output=True, timeout=TIMEOUT_S, cwd=folder, stdin=subprocess.DEVNULL, env={**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"})
                out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
            except subprocess.TimeoutExpired as e:
                out, err = (e.stdout or b"").decode("utf-8", "replace"), f"no answer within {TIMEOUT_S} s"
        parts = out.split(MARK)[1:]
        last = None
        answers = {}
        for part in parts:
            if part.startswith("!"):
                if last is not None:
                    answers[last] = (answers[last][0], part[1:].strip())
                continue
            head, _, body = part.partition("\n")
            if head == "end":
                return {**answers, **left_out}
            last = int(head)
            answers[last] = (body, "")
        guilty = last
        for line in err.splitlines():
            if line.startswith("{") and not parts:
                error = json.loads(line)
                at = error.get("line", 0) - 1
                guilty = max((n for n, start in starts.items() if start <= at), default=min(starts))
        if guilty is None:
            guilty = min(starts)
        left_out[guilty] = ("", run.exception_of(err, 1) or err[-300:])
    return {**answers, **left_out}


def is_same(got, want):
    got, want = (re.sub(r"0x[0-9a-f]{6,}", "0x", text).rstrip("\n").split("\n") for text in (got, want))
    return len(got) == len(want) and all(run.same_line(a, b, 1e-6) for a, b in zip(got, want))


def judge(gasell, prelude, name, statements):
    """[(name, source, 'same' | 'different' | 'refused', what came, what was wanted)]"""
    answers = run_gasell(gasell, prelude, statements)
    verdicts = []
    for number, (source, _, want) in enumerate(statements):
        got, error = answers.get(number, ("", "not reached"))
        verdict = "refused" if error else "same" if is_same(got, want) else "different"
        verdicts.append((name, source, verdict, error or got, want))
    return verdicts


def add_arguments(parser, packages):
    """The options of both tools."""
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(run.ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--peer", required=True, help=f"a Python with {packages}")
    parser.add_argument("--filter", default="", help="only names that match this regular expression")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--long", action="store_true", help="show what came and what was wanted")
    parser.add_argument("--keep", help="a file to keep the peer's answers in, and to take them from")


def compare(options, peer, prelude, shares):
    """Prints how many statements of each section are the same, and those that are not; 0 where the shares are reached."""
    if options.keep and Path(options.keep).exists():
        found = json.loads(Path(options.keep).read_text(encoding="utf-8"))
    else:
        found = ask_peer(options.peer, peer, prelude)
        if options.keep:
            Path(options.keep).write_text(json.dumps(found), encoding="utf-8")
    reached = True
    for section, names in found.items():
        wanted = [(name, statements) for name, statements in names.items() if statements and re.search(options.filter, name)]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            results = [v for verdicts in pool.map(lambda item: judge(os.path.abspath(options.gasell), prelude, *item), wanted) for v in verdicts]
        counts = Counter(verdict for _, _, verdict, _, _ in results)
        share = counts["same"] / max(len(results), 1)
        shown = [verdict for _, _, verdict, _, want in results if want]
        print(f"{section}: {counts['same']} of {len(results)} statements the same ({share:.1%}), {counts['different']} different, {counts['refused']} refused; "
              f"of those that show something {shown.count('same')} of {len(shown)}")
        reached = reached and share >= shares[section]
        for name, source, verdict, got, want in results:
            if verdict == "same":
                continue
            print(f"  {verdict:9} {name}: {source.splitlines()[0]}" + (f"   [{got.splitlines()[0] if got else ''}]" if verdict == "refused" else ""))
            if options.long:
                print("".join(f"      + {line}\n" for line in got.splitlines()) + "".join(f"      - {line}\n" for line in want.splitlines()), end="")
    return 0 if reached else 1
