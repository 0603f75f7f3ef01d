"""What scripts of single expressions answer under Gasell and under CPython + NumPy, compared: for fuzz_numpy.py and fuzz_casts.py."""

import argparse
import math
import os
import re
import resource
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NOT_RUN = 77  # what ctest shows as skipped
MAGNITUDE = r"(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf|nan)"
NUMBER = re.compile(rf"(?<![\w.])[-+]?{MAGNITUDE}|(?<=[\d.fn])[-+]{MAGNITUDE}(?=j)")
WHOLE = re.compile(r"[-+]?\d+$")

# Every expression answers a line: its number, then the value with its dtype and shape, or the name of the exception.
HEAD = '''
np.set_printoptions(precision=17)
def shown(r):
    if isinstance(r, (tuple, list)):
        return "[" + "; ".join([shown(x) for x in r]) + "]"
    if isinstance(r, (np.ndarray, np.generic)):
        return repr(r).replace("\\n", " ") + " " + str(r.dtype) + str(r.shape)
    return repr(r)
def run(number, f):
    try:
        limit(PEER_SECONDS)
        print(number, shown(f()))
    except Exception as e:
        print(number, type(e).__name__, MESSAGES and str(e) or "")
'''
# Some calls never end in NumPy (np.diff of 2**63 - 1 times), or take what memory there is: it has so many seconds for an expression, and 3 GiB. In a
# loop in C it ends twice as late, and with it what follows.
PEER_SECONDS = 5
ADDRESS_SPACE = 8 << 30  # of Gasell
PEER = """
import faulthandler
import resource
import signal
import sys
import numpy as np
sys.stdout.reconfigure(line_buffering=True)
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
def late(*_):
    raise InterruptedError
signal.signal(signal.SIGALRM, late)
def limit(seconds):
    signal.alarm(seconds)
    faulthandler.dump_traceback_later(2 * seconds, exit=True)
exec(open({script!r}).read())
"""
ENDED = "Timeout"  # what faulthandler says
NO_ANSWER = (ENDED, "InterruptedError", "MemoryError", "_ArrayMemoryError", "RecursionError")


HALF, SINGLE, DOUBLE = 2e-3, 2e-6, 1e-9  # how far numbers of a dtype may be from an answer's, in parts of them
GREATEST_HALF = 65504


def tolerance(want):
    """That of the least exact dtype of an answer, and of a call: NumPy computes 16-bit integers in float32."""
    return HALF if "float16" in want else SINGLE if re.search("float32|complex64|int16", want) else DOUBLE


def same(a, b, share=None):
    """Whether two answers are the same but for rounding. Whole numbers must be equal."""
    if a == b or b.startswith(NO_ANSWER):
        return True
    share = share or tolerance(b)
    a, b = (re.sub(r"\s+", "", line) for line in (a, b))
    shape_a, shape_b = (NUMBER.sub("#", line) for line in (a, b))
    if shape_a != shape_b:
        return False
    pairs = zip(NUMBER.findall(a), NUMBER.findall(b))
    return all(int(x) == int(y) if WHOLE.match(x) and WHOLE.match(y) else close(float(x), float(y), share) for x, y in pairs)


def close(x, y, share):
    if share == HALF:
        x, y = (math.copysign(math.inf, v) if abs(v) > GREATEST_HALF else v for v in (x, y))
    if x == y == 0 and math.copysign(1, x) != math.copysign(1, y):
        return False
    return x == y or (x != x and y != y) or abs(x - y) <= share * max(abs(x), abs(y)) + (6e-8 if share == HALF else 1e-14)


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def answers(command, limited):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, preexec_fn=limit_memory if limited else None)
    lines = dict(line.split(" ", 1) for line in done.stdout.splitlines() if line[:1].isdigit())
    return lines, "" if done.returncode == 0 else f"status {done.returncode}: {done.stderr[:300]}"


def parser(description):
    """The options that both have: which Gasell, and which Python with NumPy."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--gasell", default=os.environ.get("GASELL", str(ROOT / "build/dev/bin/gasell")))
    options.add_argument("--peer", default=str(ROOT / ".venv/bin/python3"))
    options.add_argument("--messages", action="store_true", help="compare what exceptions say too")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--no-limit", action="store_true", help="no limit of the address space (sanitizers map terabytes)")
    return options


def both_answers(options, expressions, head=""):
    """What a script of these expressions answers under Gasell and under the peer, by number, and how Gasell ended otherwise than well."""
    text = f"MESSAGES = {options.messages}\nPEER_SECONDS = {PEER_SECONDS}\n{head}{HEAD}" + "".join(f"run({k}, lambda: {c})\n" for k, c in enumerate(expressions))
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "calls.gsl"
        script.write_text(text)
        want, trouble = answers([options.peer, "-W", "ignore", "-c", PEER.format(script=str(script))], False)
        if ENDED in trouble:
            want = {str(k): ENDED for k in range(len(expressions))} | want
        script.write_text("limit = lambda seconds: None\n" + text)
        got, problem = answers([options.gasell, script], not options.no_limit)
    return got, want, problem


def differences(options, expressions):
    """(expression, Gasell's answer, the peer's) where they are not the same."""
    got, want, problem = both_answers(options, expressions)
    if problem:
        print(f"gasell failed: {problem}")
    pairs = [(c, got.get(str(k), "no answer"), want.get(str(k), "")) for k, c in enumerate(expressions)]
    return [(c, a, b) for c, a, b in pairs if not same(a, b, tolerance(c + b))]


def is_missing(options):
    """Whether there is no peer; says so."""
    missing = not Path(options.peer).exists()
    if missing:
        print("there is no Python with NumPy 2 in .venv (scripts/python_env.sh makes it): nothing is compared")
    return missing


def compare(options, scripts, head="", excused=lambda call, got, want: False):
    """Runs scripts, each a list of expressions, shows where the answers differ and are not excused, and returns the status to exit with."""
    if is_missing(options):
        return NOT_RUN
    total = failed = 0
    for expressions in scripts:
        got, want, problem = both_answers(options, expressions, head)
        total += len(expressions)
        if problem:
            failed += 1
            print(f"gasell failed: {problem}")
        for k, c in enumerate(expressions):
            a, b = got.get(str(k), "no answer"), want.get(str(k), "")
            if not same(a, b, tolerance(c + b)) and not excused(c, a, b):
                failed += 1
                print(f"\nFAILED {c}\n    numpy:  {want.get(str(k))}\n    gasell: {got.get(str(k))}")
    print(f"{total - failed} passed, {failed} failed")
    return 1 if failed else 0
