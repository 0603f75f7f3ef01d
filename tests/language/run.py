#!/usr/bin/env python3
"""Runs the language scripts under Gasell and compares with CPython + NumPy.

A file tests/language/**/NAME.gsl holds cases, each opened by a line `# --- what it shows`; they share nothing. A case's answer is what it prints
and, where it ends with an uncaught exception, the exception's name and message. Answers come from a peer (CPython with NumPy 2: --peer, else .venv
of the repository when it is there) and are kept in build/peers; without a peer the recorded NAME.expected beside the file is used, and the run says so.
`--record` writes NAME.expected from the peer. Where a peer of another version than the recorded one answers otherwise, the recorded answer counts.

functions/ wants a peer that has Numba too, frames/ one that has pandas 2 (`pd` is imported there); the recorded answers count where the peer has not. scipy/ wants SciPy, h5py/ h5py, pictures/ Matplotlib.
functions/cuda_*.gsl run on Numba's simulator.
gasell_only/ has hand-written answers for what differs from the peers by design (random numbers).
kernels/ states what a program becomes: a line `# kernels: 1 2` inside a case gives the number of kernels of each plan that it runs, in order;
`# evaluates: 250` the elements that all its kernels together compute. A line `# operators: filter, gather 3, group by` gives the operators over rows
of frames that it runs, in order, each with the number of times that it runs there in a row; the same on the host and on two simulated GPUs, unless
a line `# operators of gpus: …` says what is otherwise there.

Lines that a case may hold:
  # rtol: 1e-12      numbers of this case may differ by this relative error (reductions of floats, functions of libm), and blanks between them do not count
  # no config: NAME  the case is not run under this configuration (say why beside it)
  # only config: NAME, NAME    the case is run under these alone
  # refused: MESSAGE  Gasell ends this case with NotImplementedError and this message; runs under default alone
  # differs: REASON   Gasell gives something else than the peer, for a reason that pandas_page.py has a row for; runs under default alone

All cases of a file run in one process, each after a line that marks it; what fails or is missing there runs again alone, so a case cannot hide another.
`--set NAME=VALUE` runs it all under a further setting, `--prefix "PROGRAM …"` under another program: a GPU (tests/gpu/suite.py), a sanitizer.

Exit status: 0 when everything passed. The closing line is `N passed, N failed`.
"""

import argparse
import concurrent.futures
import difflib
import hashlib
import itertools
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CASE = re.compile(r"^# --- (.+)$", re.M)
MARK = "\x1e"  # opens a marker line in the output; no script prints it
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf|nan)")
CONFIGURATIONS = {
    "default": {},
    "fusion off": {"GASELL_FUSE": "0"},
    "rules off": {"GASELL_RULES": "0"},
    "tiny chunks": {"GASELL_CHUNK": "7"},
    "one thread": {"GASELL_SMALL": "0", "GASELL_THREADS": "1"},
    "many threads": {"GASELL_THREADS": "5", "GASELL_CHUNK": "64"},
    "cache off": {"GASELL_SMALL": "0", "GASELL_CACHE": "0"},
    "checked": {"GASELL_CHECK": "1", "GASELL_CHUNK": "64"},
    "sim1": {"GASELL_DEVICE": "sim:1"},
    "races": {"GASELL_DEVICE": "sim:1", "GASELL_CHECK": "1", "GASELL_CUFFT": "0"},
    "sim4": {"GASELL_DEVICE": "sim:4", "GASELL_SPLIT_FROM": "0", "GASELL_CHUNK": "64"},
}
TIMEOUT_S = 600
PEER_TIMEOUT_S = 1200  # of a file's cases under Numba, which compiles each


@dataclass
class Answer:
    lines: list
    raised: str = ""  # "ValueError: message" of the exception that ended the case


@dataclass
class Case:
    path: Path
    name: str
    text: str  # with as many empty lines before it as there are in the file, so that places in messages are right
    rtol: float = 0.0
    not_under: list = field(default_factory=list)
    kernels: list = None
    evaluates: float = None
    operators: str = None
    operators_of_gpus: str = None
    refused: str = ""
    differs: str = ""

    @property
    def title(self):
        return f"{self.path.relative_to(HERE)}: {self.name}"


def read_cases(path):
    text = path.read_text(encoding="utf-8")
    parts = CASE.split(text)
    if parts[0].strip() and len(parts) > 1 and any(l.strip() and not l.startswith("#") for l in parts[0].splitlines()):
        raise SystemExit(f"{path}: code before the first case")
    if len(parts) == 1:
        parts = ["", path.stem, text]
    cases, offset = [], parts[0].count("\n")
    for name, body in zip(parts[1::2], parts[2::2]):
        case = Case(path, name.strip(), "\n" * offset + body)
        for key, value in re.findall(r"^# ([a-z ]+): (.+)$", body, re.M):
            if key == "rtol":
                case.rtol = float(value)
            elif key == "no config":
                case.not_under.append(value.split(" (")[0].strip())
            elif key == "only config":
                case.not_under += set(CONFIGURATIONS) - {name.strip() for name in value.split(",")}
            elif key == "kernels":
                case.kernels = [int(n) for n in value.split()]
            elif key == "evaluates":
                case.evaluates = float(value)
            elif key == "operators":
                case.operators = value
            elif key == "operators of gpus":
                case.operators_of_gpus = value
            elif key == "refused":
                case.refused = value
            elif key == "differs":
                case.differs = value
        if path.name.startswith("page_"):
            # They show what names do, one call or two each: how arrays are computed is the others' subject.
            case.not_under += set(CONFIGURATIONS) - {"default", "sim4"}
        offset += body.count("\n")
        cases.append(case)
    names = [c.name for c in cases]
    for name in names:
        if names.count(name) > 1:
            raise SystemExit(f"{path}: two cases are called '{name}'")
    return cases


# ---- the peer ----

PEER = r"""
import contextlib, io, json, math, re, sys, warnings
import numpy as np
try:
    import pandas as pd
except ImportError:
    pd = None
warnings.simplefilter("ignore")
answers = {}
for number, (name, text) in enumerate(json.load(sys.stdin)):
    out, raised = io.StringIO(), ""
    scope = {"np": np, "numpy": np, "math": math, "__name__": "__main__"}
    if pd:
        scope["pd"] = pd
    file = f"case{number}.py"
    with open(file, "w", encoding="utf-8") as script:  # Numba looks for the text of what it keeps on disk
        script.write(text)
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(text, file, "exec"), scope)
        except SystemExit as e:
            raised = f"SystemExit: {e}"
        except BaseException as e:
            message = f": {e}" if str(e) else ""
            raised = f"{type(e).__name__}{message}"
    np.set_printoptions()
    answers[name] = [out.getvalue(), raised]
json.dump({"version": f"CPython {sys.version.split()[0]}, NumPy {np.__version__}", "answers": answers}, sys.stdout)
"""


# What a folder's answers need beside NumPy.
NEEDS = {"functions": "numba", "frames": "pandas", "dask": "dask", "sklearn": "sklearn", "scipy": "scipy", "h5py": "h5py", "pictures": "matplotlib, pandas", "hdf5.gsl": "dask, h5py", "parquet.gsl": "pyarrow", "kendall.gsl": "scipy"}


def lacks(python, package):
    return subprocess.run([python, "-c", f"import {package}"], capture_output=True).returncode != 0


def needs(path):
    return NEEDS.get(path.name, NEEDS.get(path.relative_to(HERE).parts[0]))


# What cannot run where Gasell was built without a plugin: the names of files and folders, by the plugin's line of `gasell doctor`.
OF_PLUGINS = {"Parquet files": {"parquet"}, "HDF5 files": {"h5py", "hdf5"}}


def of_plugin(path, plugin):
    return path.stem in OF_PLUGINS[plugin] or path.parent.name in OF_PLUGINS[plugin]


def has_plugin(gasell, plugin):
    return not re.search(rf"^{plugin} +none", subprocess.run([gasell, "doctor"], capture_output=True, text=True).stdout, re.M)


def find_peer(wanted):
    if wanted == "none":
        return None
    candidates = [Path(wanted)] if wanted else [ROOT / ".venv/bin/python3"]
    for python in candidates:
        probe = subprocess.run([python, "-c", "import numpy; assert numpy.__version__.startswith('2.')"], capture_output=True) if python.exists() else None
        if probe is not None and probe.returncode == 0:
            return python
    if wanted:
        raise SystemExit(f"{wanted} is no Python with NumPy 2")
    return None


def ask_peer(python, path, cases):
    request = json.dumps([[c.name, c.text] for c in cases])
    version = subprocess.run([python, "-VV"], capture_output=True, text=True).stdout
    simulator = {"NUMBA_ENABLE_CUDASIM": "1"} if path.stem.startswith("cuda_") else {}
    key = hashlib.sha256((PEER + version + str(Path(python).absolute()) + request + "".join(simulator)).encode()).hexdigest()[:24]
    kept = ROOT / "build/peers" / f"{path.stem}-{key}.json"
    try:
        reply = json.loads(kept.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([python, "-I", "-c", PEER], input=request, capture_output=True, text=True, timeout=PEER_TIMEOUT_S, cwd=folder, env={**os.environ, "LC_ALL": "C.UTF-8", **simulator})
        if done.returncode:
            raise SystemExit(f"{path}: the peer failed\n{done.stderr}")
        reply = json.loads(done.stdout)
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_suffix(f".{os.getpid()}")
        partial.write_text(done.stdout, encoding="utf-8")
        partial.rename(kept)
    return {name: Answer(split_lines(out), raised) for name, (out, raised) in reply["answers"].items()}, reply["version"]


# ---- recorded answers ----

# Whose answers the .expected files hold. Messages change from version to version; where other peers answer otherwise, Gasell follows these.
REFERENCE = re.compile(r"CPython 3\.11\..*, NumPy 2\.4\.")


def follow_reference(compared, answers):
    differing = 0
    for path, cases in compared.items():
        kept = recorded(path)
        for case in cases:
            if case.name in kept and difference(answers[path][case.name], kept[case.name], case.rtol) is not None:
                answers[path][case.name] = kept[case.name]
                differing += 1
    print(f"{differing} cases have other answers than those recorded from CPython 3.11 and NumPy 2.4, which are used for them")


def split_lines(text):
    lines = text.split("\n")
    return lines[:-1] if lines and lines[-1] == "" else lines


def expected_path(path):
    return path.with_suffix(".expected")


def record(path, cases, answers):
    out = []
    for case in cases:
        answer = answers[case.name]
        out.append(f"# --- {case.name}")
        out += ["  " + line if line else "" for line in answer.lines]
        if answer.raised:
            out.append(f"! {answer.raised}".replace("\n", "\\n"))
    expected_path(path).write_text("\n".join(out) + "\n", encoding="utf-8")


def recorded(path):
    answers, current = {}, None
    for line in split_lines(expected_path(path).read_text(encoding="utf-8")):
        if line.startswith("# --- "):
            current = answers.setdefault(line[6:], Answer([]))
        elif line.startswith("! "):
            current.raised = line[2:].replace("\\n", "\n")
        elif current is not None:
            current.lines.append(line[2:])
    return answers


# ---- Gasell ----

def environment(options, config):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GASELL")}
    return {**kept, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "XDG_CACHE_HOME": str(options.cache), **CONFIGURATIONS[config], **options.set}


def run_gasell(options, config, text, name, extra=()):
    """stdout, stderr, status of a script with this text; it runs in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / name
        script.write_text(text, encoding="utf-8")
        command = [*options.prefix, options.gasell, "--json-errors", *extra, script.name]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, cwd=folder, env=environment(options, config))
        except subprocess.TimeoutExpired as e:
            return (e.stdout or b"").decode("utf-8", "replace"), f"no answer within {TIMEOUT_S} s", -1
    return done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"), done.returncode


def exception_of(stderr, status):
    """'Name: message' of an error that --json-errors printed, or what else ended the run."""
    if status == 0:
        return ""
    for line in reversed(stderr.splitlines()):
        if line.startswith("{"):
            try:
                error = json.loads(line)
            except ValueError:
                continue
            return error["kind"] + (f": {error['message']}" if error.get("message") else "")
    how = f"signal {-status}" if status < 0 else f"status {status}"
    return f"({how}) {stderr.strip()[-400:]}"


def is_explained(case):
    return case.kernels is not None or case.evaluates is not None or case.operators is not None


def run_alone(options, config, case):
    out, err, status = run_gasell(options, config, case.text, case.path.name, ["--explain"] if is_explained(case) else [])
    answer = Answer(split_lines(out), exception_of(err, status))
    return answer, err


def run_together(options, config, path, cases):
    """Answers of the cases that one process gets through; the last one that it began is left out when the process failed."""
    text, line = "", 0
    for i, case in enumerate(cases):
        body = case.text.lstrip("\n")
        text += f"print('\\x1e{i}')\n{body}" + ("" if body.endswith("\n") else "\n")
    out, _, status = run_gasell(options, config, text, path.name)
    answers = {}
    for part in out.split(MARK)[1:]:
        number, _, body = part.partition("\n")
        if number.isdigit() and int(number) < len(cases):
            answers[cases[int(number)].name] = Answer(split_lines(body))
    if status != 0 and answers:
        answers.popitem()
    return answers


# ---- comparing ----

def close(a, b, rtol):
    x, y = float(a), float(b)
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    return x == y or abs(x - y) <= rtol * max(abs(x), abs(y))


def same_line(got, want, rtol):
    if got == want or got.rstrip() == want.rstrip() and "broadcast" in want:  # NumPy's message ends with a blank
        return True
    if rtol <= 0:
        return False
    shape_got, shape_want = (" ".join(NUMBER.sub("#", line).split()).replace("[ ", "[").replace("( ", "(").replace(" ]", "]") for line in (got, want))
    if shape_got != shape_want:
        return False
    return all(close(a, b, rtol) for a, b in zip(NUMBER.findall(got), NUMBER.findall(want)))


def difference(got, want, rtol):
    """None when equal, else lines that show the difference."""
    if len(got.lines) == len(want.lines) and all(same_line(a, b, rtol) for a, b in zip(got.lines, want.lines)) and got.raised.rstrip() == want.raised.rstrip():
        return None
    shown = lambda a: a.lines + ([f"! {a.raised}"] if a.raised else [])
    return list(difflib.unified_diff(shown(want), shown(got), "expected", "gasell", lineterm="", n=2))


OPERATORS = "filter", "gather", "first rows", "sort", "group by", "aggregate", "join", "duplicates", "firsts of groups", "window", "scan"


def operators_of(stderr):
    """The operators over rows that --explain printed, as `# operators:` names them, in the order in which they ended: those that an operator waited for
    stand below it, further to the right. GPUs report the two halves of a filter."""
    names, waiting = [], []
    for line in stderr.splitlines():
        depth = len(line) - len(line.lstrip())
        while waiting and waiting[-1][0] >= depth:
            names.append(waiting.pop()[1])
        found = re.match(rf" *({'|'.join(OPERATORS)})(?: (.+?))?: [\d.]+ ?[KMGTP]? rows", line)
        if found and found[2] != "numbers of the rows":
            waiting.append((depth, found[1]))
    runs = itertools.groupby(names + [name for _, name in reversed(waiting)])
    counts = [(name, len(list(run))) for name, run in runs]
    return ", ".join(name if count == 1 else f"{name} {count}" for name, count in counts)


def check_operators(expected, stderr):
    found = operators_of(stderr)
    return None if found == expected else [f"operators: expected {expected}, got {found}"]


def check_plans(case, stderr):
    """What --explain printed, against the case's `# kernels:`, `# evaluates:` and `# operators:`."""
    counts = [int(n) for _, n in sorted((int(plan), n) for plan, n in re.findall(r"^ *plan (\d+): (\d+) kernels?$", stderr, re.M))]
    scale = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
    elements = sum(float(n) * scale[unit.strip()] for n, unit in re.findall(r"^ +elements +([\d.]+) ?([KMGTP]?)", stderr, re.M))
    wrong = []
    if case.operators is not None:
        wrong += check_operators(case.operators, stderr) or []
    if case.kernels is not None and counts != case.kernels:
        wrong.append(f"kernels of the plans: expected {case.kernels}, got {counts}")
    if case.evaluates is not None and not math.isclose(elements, case.evaluates, rel_tol=0.02):
        wrong.append(f"evaluated elements: expected {case.evaluates:g}, got {elements:g}")
    return wrong + stderr.splitlines() if wrong else None


def check_mark(case, got, answer):
    """Whether a case that is marked as refused or differing still is."""
    if case.refused:
        return None if got.raised == f"NotImplementedError: {case.refused}" else [f"expected NotImplementedError: {case.refused}", *got.lines, f"! {got.raised}"]
    if got.raised.startswith("("):
        return [got.raised]
    return None if difference(got, answer, case.rtol) is not None else ["gives what the peer gives: take `# differs:` away"]


def run_file(options, config, path, cases, answers):
    """[(case, None or the lines of the failure)], the seconds that they took"""
    start = time.monotonic()
    return results_of(options, config, path, cases, answers), time.monotonic() - start


def results_of(options, config, path, cases, answers):
    cases = [c for c in cases if config not in c.not_under and (config == "default" or not c.refused and not c.differs)]
    quiet = [c for c in cases if not answers[c.name].raised and not c.refused and not c.differs and not is_explained(c)]
    together = run_together(options, config, path, quiet) if len(quiet) > 1 else {}
    results = []
    for case in cases:
        got = together.get(case.name)
        if got is not None and difference(got, answers[case.name], case.rtol) is None:
            results.append((case, None))
            continue
        got, err = run_alone(options, config, case)
        if case.refused or case.differs:
            results.append((case, check_mark(case, got, answers[case.name])))
            continue
        wrong = difference(got, answers[case.name], case.rtol)
        if wrong is None and is_explained(case) and config == "default" and not options.set:
            wrong = check_plans(case, err)
            if wrong is None and case.operators is not None:
                _, on_gpus, _ = run_gasell(options, config, case.text, case.path.name, ["--explain", "--device", "sim:2"])
                wrong = check_operators(case.operators_of_gpus or case.operators, on_gpus)
        results.append((case, wrong))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--config", action="append", help=f"one of {', '.join(CONFIGURATIONS)}; or 'all', or 'extra' (all but default)")
    parser.add_argument("--filter", default="", help="only cases whose 'file: name' matches this regular expression")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--peer", default="", help="a Python with NumPy 2, or 'none' for the recorded answers")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="environment of gasell, beside the configuration's")
    parser.add_argument("--prefix", type=shlex.split, default=[], help="a program that runs gasell, with its arguments")
    parser.add_argument("--record", action="store_true", help="write the .expected files from the peer")
    parser.add_argument("--share", default="1/1", metavar="K/N", help="of the cases every N-th, from the K-th on: configurations that show much the same share them out")
    parser.add_argument("--slowest", type=int, default=0, metavar="N", help="name the N files that took longest, and their seconds")
    parser.add_argument("--cache", type=Path, help="a folder that keeps compiled kernels for other runs of the same gasell; else they are forgotten")
    parser.add_argument("--list", action="store_true", help="count the cases and stop")
    options = parser.parse_args()
    options.gasell = str(Path(options.gasell).resolve())
    options.set = dict(setting.split("=", 1) for setting in options.set)

    configs = []
    for name in options.config or ["default"]:
        wanted = list(CONFIGURATIONS) if name == "all" else [c for c in CONFIGURATIONS if c != "default"] if name == "extra" else [name]
        if any(c not in CONFIGURATIONS for c in wanted):
            parser.error(f"no configuration '{name}'")
        configs += wanted

    share, shares = map(int, options.share.split("/"))
    if not 1 <= share <= shares:
        parser.error(f"--share {options.share}: K is one of 1 to N")
    files, number = {}, 0
    for path in sorted(HERE.rglob("*.gsl")):
        cases = [c for c in read_cases(path) if re.search(options.filter, c.title)]
        number += len(cases)
        cases = [c for k, c in enumerate(cases, number - len(cases)) if k % shares == share - 1]
        if cases:
            files[path] = cases
    total = sum(map(len, files.values()))
    if options.list:
        print(f"{total} cases in {len(files)} files")
        return 0
    for plugin in OF_PLUGINS:
        if any(of_plugin(p, plugin) for p in files) and not has_plugin(options.gasell, plugin):
            files = {p: cases for p, cases in files.items() if not of_plugin(p, plugin)}
            total = sum(map(len, files.values()))
            print(f"Gasell was built without the plugin of {plugin}: no cases of them are run")

    peer = find_peer(options.peer)
    answers, version = {}, ""
    compared = {p: c for p, c in files.items() if p.parent.name not in ("gasell_only", "kernels")}
    for package in sorted({needs(p) for p in compared} - {None}):
        if peer and lacks(peer, package):
            print(f"{peer} has no {package}: the recorded answers count for what needs it")
            compared = {p: c for p, c in compared.items() if needs(p) != package}
    if options.record and not peer:
        parser.error("--record wants a peer: scripts/python_env.sh makes one")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        if peer:
            for path, reply in zip(compared, pool.map(lambda item: ask_peer(peer, *item), compared.items())):
                answers[path], version = reply
            print(f"answers: {version}")
        else:
            print("answers: recorded ones, there is no Python with NumPy 2 in .venv (scripts/python_env.sh makes it)")
    if peer and not options.record and not REFERENCE.match(version):
        follow_reference(compared, answers)
    if options.record:
        for path, cases in compared.items():
            everything = read_cases(path)
            record(path, everything, ask_peer(peer, path, everything)[0])
        print(f"recorded {len(compared)} files")
        return 0
    for path in files:
        if path not in answers:
            answers[path] = recorded(path)
    missing = [c.title for path, cases in files.items() for c in cases if c.name not in answers[path]]
    if missing:
        raise SystemExit("no answer is recorded for\n  " + "\n  ".join(missing))

    passed, failed = 0, []
    with tempfile.TemporaryDirectory() as forgotten, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        options.cache = (options.cache or Path(forgotten)).absolute()
        for config in configs:
            before = len(failed)
            runs = pool.map(lambda path: run_file(options, config, path, files[path], answers[path]), files)
            times = []
            for path, (results, seconds) in zip(files, runs):
                times.append((seconds, path))
                for case, wrong in results:
                    if wrong is None:
                        passed += 1
                        continue
                    failed.append((config, case))
                    line = case.text[: len(case.text) - len(case.text.lstrip("\n"))].count("\n")
                    print(f"\nFAILED {case.title} ({config}), {case.path}:{line}")
                    print("\n".join("    " + l for l in wrong[:40]))
                    if len(wrong) > 40:
                        print(f"    … {len(wrong) - 40} lines more")
            print(f"{config}: {total} cases, {len(failed) - before} failed", flush=True)
            for seconds, path in sorted(times, reverse=True)[: options.slowest]:
                print(f"    {seconds:7.1f} s  {path.relative_to(HERE)}")
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
