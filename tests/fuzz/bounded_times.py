#!/usr/bin/env python3
"""Calls whose time or memory would grow with a number of theirs instead of with the data: each is answered or refused at once.

    bounded_times.py                    all of bounded_times.txt
    bounded_times.py --filter round     the cases that match
    bounded_times.py --python PYTHON    the same under CPython with the peers: what the list says of them

A line of bounded_times.txt is `statement; …; expression => outcome | outcome`, an outcome the beginning of the expression's text, `*` for any value, or the name of an
exception. The first outcome is CPython's with the peers; a second one, behind it, is Gasell's own where it has less memory to give (--memory 1GiB), refuses by name what it
does not have, or words a refusal by another name. Where the peers take longer than anyone waits, or forever, Gasell's stands alone. Every case runs in a process of its own with a limit of time and one of the address space; a signal, a
time-out or a word of the compiler's insides is a failure. The closing line is `N passed, N failed`.
"""

import argparse
import concurrent.futures
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ADDRESS_SPACE = 8 << 30
SETUP = """import collections, functools, itertools, math
import numpy as np
import pandas as pd
a = np.arange(6.0)
i = np.arange(6)
m = np.eye(3)
s = pd.Series(a)
df = pd.DataFrame({"k": ["a", "b", "a", "b", "a", "b"], "x": a})
t = pd.Series([1.0, 2.0], pd.to_datetime(["1700-01-01", "2200-01-01"]))
rng = np.random.default_rng(1)
"""
INTERNAL = re.compile(r"internal|terminate called|std::|llvm|LLVM ERROR|Assertion `|(Address|Leak|Thread)Sanitizer|runtime error:", re.I)
ERROR = re.compile(r"^(?:error: )?(?:[a-z_]+\.)*(?:_Array)?([A-Z]\w*)(?::|$)", re.M)  # NumPy's _ArrayMemoryError is a MemoryError


def read_cases(pattern):
    cases = []
    for number, line in enumerate((HERE / "bounded_times.txt").read_text(encoding="utf-8").splitlines(), 1):
        if line and not line.startswith("#") and re.search(pattern, line):
            text, _, outcomes = line.partition(" => ")
            cases.append((number, text, [o.strip() for o in outcomes.split(" | ")]))
    return cases


def script_of(text):
    *statements, expression = text.split("; ")
    return SETUP + "".join(s + "\n" for s in statements) + f"print(str({expression}).replace('\\n', ' ')[:60])\n"


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(options, text):
    """(the text of the value or None, the name of the exception or None, what went wrong or None)"""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "case.gsl"
        script.write_text(script_of(text), encoding="utf-8")
        env = {k: v for k, v in os.environ.items() if not k.startswith("GASELL")}
        env.update(LC_ALL="C.UTF-8", XDG_CACHE_HOME=options.cache, PYTHONWARNINGS="ignore", OPENBLAS_NUM_THREADS="1")
        command = [options.python] if options.python else [options.gasell, "--memory", "1GiB", "--device", "cpu"]
        try:
            done = subprocess.run([*command, script.name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=options.timeout, cwd=folder, env=env,
                                  preexec_fn=None if options.no_limit else limit)
        except subprocess.TimeoutExpired:
            return None, None, f"takes longer than {options.timeout} s"
    message = done.stderr.decode("utf-8", "replace")
    if done.returncode == 0:
        return done.stdout.decode("utf-8", "replace").rstrip("\n"), None, None
    said = "\n".join(l for l in message.splitlines() if not l.startswith("    "))  # without the lines of the script
    if done.returncode != 1 or INTERNAL.search(said):
        return None, None, f"ends with status {done.returncode}\n{message[-1000:]}"
    names = ERROR.findall(said)
    return None, names[-1] if options.python else names[0] if names else message[-300:], None


def judge(options, case):
    """What is wrong with a case, or ''."""
    number, text, outcomes = case
    value, error, wrong = run(options, text)
    if not wrong:
        fits = any(error == o if error else value is not None and (o == "*" or " ".join(value.split()).startswith(o)) for o in outcomes)
        if fits:
            return ""
        wrong = f"gives {error or value}"
    return f"bounded_times.txt:{number}: {text} => {' | '.join(outcomes)}\n    {wrong}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--python", help="run the cases under this CPython instead")
    parser.add_argument("--filter", default="")
    parser.add_argument("--timeout", type=float, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--no-limit", action="store_true", help="no limit of the address space (sanitizers map terabytes)")
    options = parser.parse_args()
    options.gasell = str(Path(options.gasell).resolve())
    cases = read_cases(options.filter)
    failed = 0
    with tempfile.TemporaryDirectory() as options.cache, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for wrong in pool.map(lambda case: judge(options, case), cases):
            if wrong:
                failed += 1
                print(wrong)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
