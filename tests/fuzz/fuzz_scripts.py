#!/usr/bin/env python3
"""Mutates the language scripts and runs them: whatever the text, Gasell ends with status 0, 1 or 2 and never by a signal, and says nothing of an internal fault.

    fuzz_scripts.py --runs 300 --seed 1      what ctest runs
    fuzz_scripts.py --runs 100000 --seed 0   a night; --seed 0 takes a new seed and prints it

A script that fails is kept under build/fuzz. One that runs longer than 10 s is ended and counts as slow: mutations may make endless loops.
The closing line is `N passed, N failed`.
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
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TIMEOUT_S = 10
ADDRESS_SPACE = 16 << 30
TOKEN = re.compile(r"[A-Za-z_]\w*|\d+\.?\d*(?:e-?\d+)?|'[^'\n]*'|\"[^\"\n]*\"|\*\*=?|//=?|<<=?|>>=?|[-+*/%&|^<>=!]=|:=|\n[ ]*|[^\w\s]|[ ]+")
NUMBERS = ["0", "1", "-1", "2", "3", "7", "255", "-128", "2147483648", "9223372036854775807", "99999999999999999999", "0.0", "-0.0", "1e308", "5e-324", "1e-400", "0x7f", "1j", "True", "None"]
PIECES = ["(", ")", "[", "]", "{", "}", ":", ",", ".", "=", "==", "+=", "*", "**", "//", "%", "@", "~", "not ", " if ", " else ", " for ", " in ", " is ", "lambda: ", "lambda x: ", "...", "[::-1]", "[::2]", "[1:]", "[None]", ".T", ".sum()", ".reshape(-1)", ".astype('i1')",
          "np.zeros(0)", "np.ones((2, 3))", "np.arange(5)", "float('nan')", "f'{x}'", "'", '"', '"""', "\\", "#", ";", "\t", "\n", "\n    ", "yield", "class X:", "async ", "del ", "global x", "return", "raise", "assert ", "try:", "*", "=", "->", ":=", "\0", "\ufeff", "é", "\U0001f600", "\x7f", "@"]
INTERNAL = re.compile(r"internal|terminate called|std::|llvm|LLVM ERROR|Assertion `|(Address|Leak|Thread)Sanitizer|runtime error:", re.I)


def load_corpus():
    out = []
    for path in sorted((ROOT / "tests/language").rglob("*.gsl")) + sorted((ROOT / "tests/errors").glob("*.gsl")):
        out += [case for case in re.split(r"^# --- .+\n", path.read_text(encoding="utf-8"), flags=re.M)[1:] if case.strip()]
    return out


def mutate(corpus, rng):
    text = rng.choice(corpus)
    if rng.random() < 0.2:
        text += rng.choice(corpus)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        tokens = TOKEN.findall(text)
        if not tokens:
            return text
        i, j = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        kind = rng.randrange(10)
        if kind == 0:
            del tokens[i]
        elif kind == 1:
            tokens.insert(i, tokens[j])
        elif kind == 2:
            tokens[i], tokens[j] = tokens[j], tokens[i]
        elif kind == 3:
            numbers = [k for k, t in enumerate(tokens) if t[0].isdigit()]
            if numbers:
                tokens[rng.choice(numbers)] = rng.choice(NUMBERS)
        elif kind == 4:
            names = [k for k, t in enumerate(tokens) if t[0].isalpha()]
            if names:
                tokens[rng.choice(names)] = tokens[rng.choice(names)]
        elif kind == 5:
            tokens.insert(i, rng.choice(PIECES))
        elif kind == 6:
            lines = text.split("\n")
            k = rng.randrange(len(lines))
            lines[k:k + 1] = rng.choice(([], [lines[k], lines[k]], ["    " + lines[k]], [lines[k].lstrip()]))
            tokens = ["\n".join(lines)]
        elif kind == 7:
            tokens = tokens[:i]
        elif kind == 8:
            tokens[i] = rng.choice(PIECES)
        else:
            other = TOKEN.findall(rng.choice(corpus))
            k = rng.randrange(max(1, len(other)))
            tokens[i:i] = other[k:k + rng.randrange(1, 8)]
        text = "".join(tokens)
    return text


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))


def run(options, text):
    """'' when all is well, 'slow', or what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "fuzzed.gsl"
        script.write_bytes(text.encode("utf-8", "surrogatepass"))
        env = {k: v for k, v in os.environ.items() if not k.startswith("GASELL")}
        env.update(LC_ALL="C.UTF-8", XDG_CACHE_HOME=options.cache, GASELL_MEMORY="256MiB")
        try:
            done = subprocess.run([options.gasell, script.name], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=TIMEOUT_S, cwd=folder, env=env,
                                  preexec_fn=None if options.no_limit else limit)
        except subprocess.TimeoutExpired:
            return "slow"
    message = done.stderr.decode("utf-8", "replace")
    if done.returncode < 0:
        return f"ended by signal {-done.returncode}\n{message[-2000:]}"
    if done.returncode not in (0, 1, 2):
        return f"ended with status {done.returncode}\n{message[-2000:]}"
    said = [l for l in message.splitlines() if not l.startswith("    ")]  # without the lines of the script
    if any(INTERNAL.search(l) for l in said):
        return f"speaks of internals\n{message[-2000:]}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--no-limit", action="store_true", help="no limit of the address space (sanitizers map terabytes)")
    options = parser.parse_args()
    options.gasell = str(Path(options.gasell).resolve())
    seed = options.seed or random.SystemRandom().randrange(1, 1 << 31)
    corpus = load_corpus()
    print(f"seed {seed}, {len(corpus)} scripts to start from")
    texts = [mutate(corpus, random.Random(f"{seed} {i}")) for i in range(options.runs)]
    failed = slow = 0
    with tempfile.TemporaryDirectory() as options.cache, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for i, (text, wrong) in enumerate(zip(texts, pool.map(lambda t: run(options, t), texts))):
            if wrong == "slow":
                slow += 1
            elif wrong:
                failed += 1
                kept = ROOT / "build/fuzz" / f"{seed}-{i}.gsl"
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(text.encode("utf-8", "surrogatepass"))
                print(f"\nFAILED run {i}, kept as {kept}\n{wrong}")
    print(f"{slow} slow")
    print(f"{options.runs - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
