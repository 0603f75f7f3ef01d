#!/usr/bin/env python3
"""Each parameter of the library's functions changed alone, under Gasell and under NumPy and pandas: what Gasell accepts must do what the peer does.

    parameters.py                        the calls of parameters.txt; --share 5 --seed 1: every fifth of them
    parameters.py --only 'df\\.sort'      of some functions; --list: every call with what it is
    parameters.py --find [--only df]     looks for the calls anew in the peer, which takes a quarter of an hour, and writes parameters.txt

A call of parameters.txt gives the peer another answer than the call without the parameter. Under Gasell it is
  right    the peer's answer
  refused  an exception, of whatever kind but an internal error
  ignored  the answer of the call without the parameter, although the peer's is another: a failure
  other    another answer: a failure, unless the call without the parameter differs as well, which is no question of the parameter
The closing line is `N passed, N failed`; without a peer nothing is run.
"""

import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from numpy_peer import NOT_RUN, NUMBER, ROOT, same

CALLS = Path(__file__).with_name("parameters.txt")
PEER_SIDE = Path(__file__).with_name("parameters_peer.py")
MISSING = re.compile(r"np\.float64\(nan\) float64|<NA>|\bNone\b|\bNaN\b")  # a missing text is pd.NA in Gasell (docs/differences.md)
NUMPY_INT = re.compile(r"np\.int64\((-?\d+)\)( int64)?")  # of places in an index: pandas gives Python's and NumPy's integers by chance
INTERNAL = re.compile(r"^!(SystemError|InternalError)|internal error")
# Calls whose answers have another form in Gasell, or that nobody would write, by OBJECT.FUNCTION.PARAMETER=VALUE; each of them is known to differ.
LEFT_OUT = re.compile(
    r"value_counts\.bins"  # labels are texts: there is no IntervalIndex
    r"|^(df|si)\.align\.fill_value=(True|False)|^(dt|si)\.clip\.upper=False|^(s|ts)\.to_numpy\.na_value=(True|False)"  # booleans among numbers
    r"|^(df|dt)\.from_dict\.dtype='D'|^pd\.get_dummies\.dtype='D'"  # complex numbers are printed with two decimals by pandas alone
    r"|^df\.to_string\.na_rep"  # a missing text is missing: pandas writes None
    r"|^sd\.mode\.dropna=False"  # the order of what is missing among times
    r"|^gs?\.cov\.(ddof|min_periods)"  # degrees of freedom that pandas leaves out beside missing values, or divides by zero
    r"|^rf\.(std|var)\.ddof=-1"  # of no values at all
    r"|^np\.(arctan2|atan2|hypot|logaddexp)\.out"  # NumPy computes truth values in float16
    r"|^pd\.read_csv\.(na_values=True|nrows=0)|^pd\.get_dummies\.dummy_na|^it\.join\.how"  # not mended yet: types and names of no rows, of numbers beside texts
    r"|^dt\.value_counts\.subset"  # pandas has a MultiIndex of one level
)
CALLS_A_SCRIPT = 500
FIND_S = 600

HEAD = """
import io
import numpy as np
import pandas as pd
{shown}
def case(number, make, call):
    try:
        o = make()
        result = shown(call(o))
        if isinstance(o, (pd.DataFrame, pd.Series, pd.Index, np.ndarray)):
            result += " | " + shown(o)
    except Exception as e:
        result = "!" + type(e).__name__ + ": " + str(e)
    print("@@" + str(number), result.replace("\\n", "\\\\n"))
"""


def text_of(name):
    """A constant of the peer's side, without importing it: it needs pandas."""
    return re.search(rf'^{name} = """\n(.*?)^"""', PEER_SIDE.read_text(), re.M | re.S).group(1)


def objects():
    return dict(re.findall(r'^    "([\w.]+)": "((?:pd|np).*)",$', PEER_SIDE.read_text(), re.M))


def answers(command, calls):
    """{call: answer} of calls, each an (object, text)."""
    made = objects()
    script = HEAD.format(shown=text_of("SHOWN")) + "".join(f"case({k}, lambda: {made[o]}, lambda o: {text})\n" for k, (o, text) in enumerate(calls))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "calls.gsl"
        path.write_text(script)
        done = subprocess.run([*command, str(path)], capture_output=True, text=True, cwd=folder, timeout=600)
    found = {int(k): v for k, v in re.findall(r"^@@(\d+) (.*)$", done.stdout, re.M)}
    if len(found) < len(calls):
        last = calls[len(found)]
        print(f"{command[0]}: status {done.returncode} at {last}: {done.stderr[-300:]}")
    return {call: found.get(k, "no answer") for k, call in enumerate(calls)}


def find(peer, only):
    """Calls that change the peer's answer, as lines of JSON."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for name in objects():
            if only and not re.search(only, name):
                continue
            with open(Path(folder) / "found", "w+") as out:
                try:
                    subprocess.run([peer, "-W", "ignore", PEER_SIDE, name], stdout=out, stderr=subprocess.DEVNULL, cwd=folder, timeout=FIND_S)
                except subprocess.TimeoutExpired:
                    print(f"{name}: the peer takes more than {FIND_S} s; what was found until then is kept")
                out.seek(0)
                lines += [line for line in out if line.endswith("\n")]
    return lines


def kind_of(thing, *texts):
    """What a call is; thing: its object; texts: Gasell's answer, that without the parameter, the peer's answer, that without the parameter."""
    if thing == "rng":  # other numbers of the same kind: NumPy's generator is another one
        texts = [NUMBER.sub("#", t) for t in texts]
    got, got_base, want, want_base = (NUMPY_INT.sub(r"\1", MISSING.sub("nan", t.replace("\\n", "\n"))) for t in texts)
    if same(got, want):
        return "right"
    if INTERNAL.search(got):
        return "other"
    if got.startswith("!"):
        return "refused"
    if same(got, got_base):
        return "ignored"
    return "other" if same(got_base, want_base) else "base"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--peer", default=str(ROOT / ".venv/bin/python3"))
    parser.add_argument("--share", type=int, default=1, help="one call in so many")
    parser.add_argument("--seed", type=int, default=1, help="which of them")
    parser.add_argument("--only", default="", help="a pattern of OBJECT.FUNCTION.PARAMETER")
    parser.add_argument("--list", action="store_true", help="print every call")
    parser.add_argument("--find", action="store_true", help="write parameters.txt anew")
    options = parser.parse_args()
    if not Path(options.peer).exists():
        print("there is no Python with NumPy 2 in .venv (scripts/python_env.sh makes it): nothing is compared")
        return NOT_RUN
    if options.find:
        others = [line for line in CALLS.read_text().splitlines(True) if options.only and not re.search(options.only, json.loads(line)[0])]
        CALLS.write_text("".join(others + find(options.peer, options.only)))
        return 0
    chosen = [c for c in map(json.loads, CALLS.read_text().splitlines()) if re.search(options.only, ".".join(c[:3])) and not LEFT_OUT.search(".".join(c[:3]) + "=" + c[4].rpartition("=")[2].rstrip(")"))]
    random.Random(options.seed).shuffle(chosen) if options.share > 1 else None
    chosen = chosen[:: options.share]
    counts = collections.Counter()
    for first in range(0, len(chosen), CALLS_A_SCRIPT):
        part = chosen[first : first + CALLS_A_SCRIPT]
        calls = list(dict.fromkeys((c[0], text) for c in part for text in c[3:5]))
        got, want = answers([options.gasell], calls), answers([options.peer, "-W", "ignore"], calls)
        for o, _, _, base, changed in part:
            kind = kind_of(o, got[o, changed], got[o, base], want[o, changed], want[o, base])
            counts[kind] += 1
            failed = kind in ("ignored", "other")
            if failed or options.list:
                print(f"{'FAILED ' if failed else ''}{kind}: {o}: {changed}")
            if failed:
                print(f"    peer:   {want[o, changed]}\n    gasell: {got[o, changed]}")
    print(", ".join(f"{counts[k]} {k}" for k in ("right", "refused", "ignored", "other", "base")))
    failed = counts["ignored"] + counts["other"]
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
