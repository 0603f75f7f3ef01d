#!/usr/bin/env python3
"""Checks that no library of the current folder runs when Gasell starts or opens one.

    scripts/check_loading.py FOLDER...    a build folder, the prefix of an installation, an unpacked bundle

Of every program and library in FOLDER it reads the search path: each part must begin with $ORIGIN or name a folder of the system. Then it runs the command and, in a
host program, libgasell.so in a folder that holds a library for each name that any of them needs or opens at run time; none of these may be loaded.
A line for each check; the exit status is 1 if one failed."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TIMEOUT_S = 120
# What is opened by name when a script first needs it.
OPENED = ["libopenblas64.so.0", "libcuda.so.1", "libnvrtc.so", "libnvrtc.so.11.2", "libnvrtc.so.12", "libnvrtc.so.13", "gasell_arrow.so", "gasell_hdf5.so", "gasell_pictures.so"]
PLANTED = """
#include <stdio.h>
__attribute__((constructor)) static void run(void) { FILE* mark = fopen("@", "w"); if (mark) fclose(mark); }
"""
SCRIPT = """
import pandas as pd
x = np.arange(100_000.0) / 1e5
a = np.cos(np.arange(90000.0)).reshape(300, 300) + 300 * np.eye(300)
print(bool(abs(np.sin(x) ** 2 + np.cos(x) ** 2 - 1).max() < 1e-12), np.allclose(np.linalg.solve(a, a @ np.ones(300)), 1))
"""
PARQUET = """
pd.DataFrame({"n": [1, 2]}).to_parquet("t.parquet")
print(pd.read_parquet("t.parquet").n.sum())
"""
HDF5 = """
import h5py
with h5py.File("t.h5", "w") as f:
    f["x"] = [1, 3]
print(h5py.File("t.h5")["x"][...].sum())
"""
PICTURES = """
plt.plot([1, 2])
plt.savefig("t.png")
print(5)
"""
HOST = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
engine, session = ctypes.c_void_p(), ctypes.c_void_p()
assert library.gasell_engine_create(None, ctypes.byref(engine), None) == 0
assert library.gasell_session_create(engine, ctypes.byref(session), None) == 0
assert library.gasell_evaluate(session, open(sys.argv[2], "rb").read(), None, None, None) == 0
"""


def say(text):
    print(f"loading: {text}", flush=True)


def dynamic_entries(file):
    """(tag, text) of the entries that name a library or a search path."""
    listed = subprocess.run(["readelf", "-W", "--dynamic", file], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\((SONAME|NEEDED|RPATH|RUNPATH)\).*\[(.*)\]", listed)


def wrong_parts(entries, system=()):
    """The parts of search paths that name neither a folder beside the file nor one below `system`."""
    parts = [part for tag, text in entries if tag in ("RPATH", "RUNPATH") for part in text.split(":")]
    return [part for part in parts if not re.fullmatch(r"\$ORIGIN(/.*)?", part) and not any(part.startswith(folder) for folder in system)]


def elf_files(folder):
    """The programs and shared libraries below it, but for links and what build folders of others within it hold (programs of users, which look where these want)."""
    others = [cache.parent for cache in folder.rglob("CMakeCache.txt") if cache.parent != folder]
    for path in sorted(folder.rglob("*")):
        if any(path.is_relative_to(other) for other in others):
            continue
        if path.is_symlink() or not path.is_file() or "CMakeFiles" in path.parts or path.suffix in (".o", ".a", ".bc"):
            continue
        with open(path, "rb") as file:
            if file.read(4) == b"\x7fELF":
                yield path


def plant(folder, names):
    """A library under each name that leaves a mark when it is loaded; the mark's path."""
    mark = folder / "planted-library-was-loaded"
    source = folder / "planted.c"
    source.write_text(PLANTED.replace("@", str(mark)), encoding="utf-8")
    library = folder / "planted.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True, timeout=TIMEOUT_S)
    for name in names:
        shutil.copy(library, folder / name)
    return mark


def run_among(names, command, text, environment):
    """Runs command + [path of a script with `text`] in a folder where every name is planted. (what it printed, whether one was loaded)"""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        mark = plant(folder, names)
        script = folder / "script.gsl"
        script.write_text(text, encoding="utf-8")
        clean = {key: value for key, value in os.environ.items() if key not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}
        done = subprocess.run([*command, str(script)], cwd=folder, env={**clean, **environment}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S)
        return done.stdout + done.stderr, mark.exists()


def check(folder):
    """Whether the folder passes."""
    problems = []
    files = list(elf_files(folder))
    entries = {file: dynamic_entries(file) for file in files}
    for file, found in entries.items():
        for part in wrong_parts(found, system=("/usr/lib", "/lib")):
            problems.append(f"{file.relative_to(folder)} looks for libraries in {part or 'the current folder'}")
    say(f"{len(files)} programs and libraries in {folder}")

    names = sorted({text for found in entries.values() for tag, text in found if tag == "NEEDED" and not re.fullmatch(r"ld-linux.*|libc\.so\.6", text)} | set(OPENED))
    programs = [["gasell", [str(file)]] for file in files if file.name == "gasell"]
    hosts = [[file.name, [sys.executable, "-c", HOST, str(file)]] for file in files if file.name.startswith("libgasell.so.")]
    if not programs or not hosts:
        problems.append("there is no command gasell, or no libgasell.so")
    text, answer = SCRIPT, "True True\n"
    for plugin, uses, printed in (("gasell_arrow.so", PARQUET, "3\n"), ("gasell_hdf5.so", HDF5, "4\n"), ("gasell_pictures.so", PICTURES, "5\n")):
        if any(file.name == plugin for file in files):
            text, answer = text + uses, answer + printed
    for name, command in programs + hosts:
        for what, planted, environment in (("", names, {}), (", LD_LIBRARY_PATH with an empty part", OPENED, {"LD_LIBRARY_PATH": "/nonexistent:"})):
            printed, loaded = run_among(planted, command, text, environment)
            if loaded or printed != answer:
                problems.append(f"{name} among planted libraries{what} {'loads one' if loaded else 'prints'}: {printed.strip()[:500]}")
            else:
                say(f"ok      {name} among {len(planted)} planted libraries{what}")
    for problem in dict.fromkeys(problems):
        say(f"FAILED  {problem}")
    return not problems


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if len(sys.argv) > 1 else 2
    return 0 if all([check(Path(folder).resolve()) for folder in sys.argv[1:]]) else 1


if __name__ == "__main__":
    sys.exit(main())
