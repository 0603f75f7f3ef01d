#!/usr/bin/env python3
"""Snapshots of error messages: tests/errors/*.gsl hold cases, each opened by `# --- name`; NAME.stderr holds what Gasell says about each.

A case must end with exit status 1. `--record` writes the snapshots: read the difference before you keep it.
Exit status: 0 when everything is as recorded. The closing line is `N passed, N failed`.
"""

import argparse
import concurrent.futures
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TIMEOUT_S = 60


def cases_of(path):
    parts = re.split(r"^# --- (.+)\n", path.read_text(encoding="utf-8"), flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))


def say(gasell, cache, name, text):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_text(text, encoding="utf-8")
        env = {k: v for k, v in os.environ.items() if not k.startswith("GASELL")}
        env.update(LC_ALL="C.UTF-8", XDG_CACHE_HOME=cache, GASELL_MEMORY="1GiB")
        try:
            done = subprocess.run([gasell, name], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, cwd=folder, env=env)
        except subprocess.TimeoutExpired:
            return f"(no answer within {TIMEOUT_S} s)"
    status = "" if done.returncode == 1 else f"(exit status {done.returncode})\n"
    return (status + done.stderr).rstrip("\n")


def recorded(path):
    if not path.exists():
        return {}
    parts = re.split(r"^# --- (.+)\n", path.read_text(encoding="utf-8"), flags=re.M)
    return {name: text.rstrip("\n") for name, text in zip(parts[1::2], parts[2::2])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--filter", default="", help="only cases whose 'file: name' matches this regular expression")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    options.gasell = str(Path(options.gasell).resolve())

    passed = failed = 0
    with tempfile.TemporaryDirectory() as cache, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path in sorted(HERE.glob("*.gsl")):
            snapshot = path.with_suffix(".stderr")
            want = recorded(snapshot)
            cases = [c for c in cases_of(path) if re.search(options.filter, f"{path.name}: {c[0]}")]
            got = dict(zip([name for name, _ in cases], pool.map(lambda c: say(options.gasell, cache, path.name, c[1]), cases)))
            if options.record:
                everything = {name: got.get(name, want.get(name, "")) for name, _ in cases_of(path)}
                snapshot.write_text("".join(f"# --- {name}\n{text}\n" for name, text in everything.items()), encoding="utf-8")
                continue
            for name, text in got.items():
                if want.get(name) == text and not text.startswith("(exit status") and not text.startswith("(no answer"):
                    passed += 1
                    continue
                failed += 1
                print(f"\nFAILED {path.name}: {name}")
                print("\n".join("    " + l for l in difflib.unified_diff(want.get(name, "").splitlines(), text.splitlines(), "recorded", "now", lineterm="", n=3)) or f"    {text}")
    if options.record:
        print("recorded")
        return 0
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
