#!/usr/bin/env python3
"""Checks a portable bundle: what it needs of a machine, and that it runs where there is nothing but glibc.

    scripts/check_bundle.py FILE.tar.xz
    scripts/check_bundle.py --needs FILE...    only what these programs and libraries need together, beside each other

It unpacks the archive into an empty root that holds glibc and nothing else and runs it there (user namespaces; where the system refuses them it runs in a folder,
with an empty environment). A line for each check; the exit status is 1 if one failed."""

import argparse
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import check_loading
from check_loading import dynamic_entries, wrong_parts

PROMISED = (2, 36)
GLIBC = re.compile(r"ld-linux-x86-64\.so\.2|lib(c|m|dl|pthread|rt|mvec)\.so\.\d+")
TIMEOUT_S = 120
ARRAYS = """
x = np.arange(3_000_000.0) / 3e6
y = np.sin(x) ** 2 + np.cos(x) ** 2 + np.exp(np.log1p(x)) - x
print(abs(y - 2).max() < 1e-14, float(np.sqrt(x).sum()), x.reshape(3, -1).sum(axis=1).round(3), np.sort(x[::-100000])[:2])
"""
MATRICES = """
a = np.cos(np.arange(90000.0)).reshape(300, 300) + 300 * np.eye(300)
print(np.allclose(np.linalg.solve(a, a @ np.ones(300)), 1), np.allclose(np.linalg.inv(a) @ a, np.eye(300)))
"""
PARQUET = """
import pandas as pd
df = pd.DataFrame({"n": np.arange(1000), "t": ["x", "y"] * 500})
for codec in ["snappy", "gzip", "zstd", "lz4", "brotli"]:
    df.to_parquet("{folder}/t.parquet", compression=codec)
    back = pd.read_parquet("{folder}/t.parquet")
    print(back.n.sum() == 499500 and back.t.tolist() == df.t.tolist(), end=" ")
"""
ARRAYS_ANSWER = r"^True 1999999\.\d+ \[166666\.\d+ +499999\.\d+ +833333\.\d+ *\] \[0\.03333\d* +0\.06666\d*\]\n$"


def say(text):
    print(f"bundle: {text}", flush=True)


# ---- what the ELF files need ----


def needs(files):
    """The glibc version needed as a tuple, and what is wrong."""
    entries = {file: dynamic_entries(file) for file in files}
    shipped = {name for found in entries.values() for tag, name in found if tag == "SONAME"}
    wrong, version = [], (2, 2, 5)
    for file, found in entries.items():
        for tag, name in found:
            if tag == "NEEDED" and name not in shipped and not GLIBC.fullmatch(name):
                wrong.append(f"{Path(file).name} needs {name}, which is neither shipped nor part of glibc")
        wrong += [f"{Path(file).name} looks for libraries in {part or 'the current folder'}" for part in wrong_parts(found)]
        versions = subprocess.run(["readelf", "-W", "--version-info", file], capture_output=True, text=True, check=True).stdout
        for name in re.findall(r"Name: GLIBC_([\w.]+)", versions):
            if re.fullmatch(r"[\d.]+", name):
                version = max(version, tuple(map(int, name.split("."))))
            elif name == "ABI_DT_RELR":
                version = max(version, (2, 36))
            else:
                wrong.append(f"{Path(file).name} needs GLIBC_{name}, which changes without notice")
    return version, wrong


def check_needs(files):
    version, wrong = needs(files)
    for problem in wrong:
        say(f"FAILED  {problem}")
    text = ".".join(map(str, version))
    if version <= PROMISED:
        say(f"ok      needs glibc {text}; {'.'.join(map(str, PROMISED))} is promised")
    else:
        say(f"note: it needs glibc {text} or newer, that of the machine where it was built; built on Debian 12 it needs {'.'.join(map(str, PROMISED))}")
    return not wrong


# ---- an empty root ----

ENTER = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork"]
WITH_DEVICES = 'mount --rbind /dev "$0/dev"'


def library_of_the_system(name):
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    found = re.findall(rf"^\s*{re.escape(name)} \(libc6,x86-64.*=> (\S+)$", listed, re.M)
    return found[0] if found else None


def make_root(root):
    for folder in ("dev", "proc", "tmp"):
        (root / folder).mkdir()
    found = [library_of_the_system(name) for name in ("libc.so.6", "libm.so.6", "libmvec.so.1", "libdl.so.2", "libpthread.so.0", "librt.so.1")]
    for path in ["/lib64/ld-linux-x86-64.so.2", *filter(None, found)]:
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)


class Place:
    """Where the bundle runs: `command` starts the program, `folder` is its /tmp as it sees it."""

    def __init__(self, root, bundle):
        self.environment = {"HOME": "/tmp", "TERM": "xterm-unheard-of", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}  # PATH: for mount and chroot; in the root it names nothing
        self.folder = Path("/tmp")
        enter = [*ENTER, f"--mount-proc={root}/proc", "/bin/sh", "-c"]
        self.command = [*enter, WITH_DEVICES, str(root)]
        self.bare = self.run()[0] == 0
        self.command = [*enter, WITH_DEVICES + ' && exec chroot "$0" "$@"', str(root), f"/{bundle}/bin/gasell"]
        if not self.bare:
            self.environment = {"HOME": str(root / "tmp"), "TERM": "xterm-unheard-of"}
            self.folder = root / "tmp"
            self.command = [str(root / bundle / "bin/gasell")]

    def run(self, *arguments):
        try:
            done = subprocess.run([*self.command, *map(str, arguments)], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, timeout=TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            return -1, str(error)
        return done.returncode, done.stdout

    def session(self, typed):
        """What a session on a terminal shows."""
        process, terminal = pty.fork()
        if process == 0:
            os.execvpe(self.command[0], self.command, {"PATH": os.defpath, **self.environment})
        shown, end = b"", time.monotonic() + TIMEOUT_S
        for line in [*typed, ""]:
            while time.monotonic() < end and (not shown.rstrip().endswith(b">>>") or not line):
                if not select.select([terminal], [], [], 0.2)[0]:
                    continue
                try:
                    shown += os.read(terminal, 65536)
                except OSError:  # it has ended
                    break
            if line:
                os.write(terminal, line.encode() + b"\n")
                shown += b"\n"
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), shown.decode("utf-8", "replace").replace("\r", "")


def embed(bundle, folder):
    """A host program built against the bundle, as its user would."""
    clean = {"HOME": str(folder), "PATH": os.environ["PATH"]}
    steps = (["cmake", "-S", bundle / "examples/embed", "-B", folder / "embed", f"-DCMAKE_PREFIX_PATH={bundle}"], ["cmake", "--build", folder / "embed"], [folder / "embed/smooth"],
             [folder / "embed/sum"])
    output = ""
    for step in steps:
        done = subprocess.run(step, env=clean, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S)
        output += done.stdout
        if done.returncode:
            return done.returncode, output
    return 0, output


def check_bundle(archive):
    failed = []

    def expect(what, pattern, result):
        status, output = result
        if status == 0 and re.search(pattern, output, re.S):
            say(f"ok      {what}")
            return
        failed.append(what)
        say(f"FAILED  {what} (status {status})")
        print("".join(f"    {line}\n" for line in output.splitlines()), end="", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        subprocess.run(["tar", "-C", root, "-xf", archive], check=True)
        bundle = archive.name.removesuffix(".tar.xz")
        if not check_needs([str(path) for path in sorted((root / bundle).rglob("*")) if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]):
            failed.append("needs")
        if not check_loading.check(root / bundle):
            failed.append("loading")
        make_root(root)
        place = Place(root, bundle)
        say("runs in a root that holds glibc and nothing else" if place.bare else "note: the system lets no new root be made; it runs with an empty environment instead")
        script = (root / bundle / "examples/two_terabytes.gsl").read_text(encoding="utf-8")
        (root / "tmp/small.gsl").write_text(script.replace("500000", "5000").replace("10000", "1000"), encoding="utf-8")
        (root / "tmp/arrays.gsl").write_text(ARRAYS, encoding="utf-8")
        (root / "tmp/matrices.gsl").write_text(MATRICES, encoding="utf-8")
        (root / "tmp/parquet.gsl").write_text(PARQUET.replace("{folder}", str(place.folder)), encoding="utf-8")
        expect("gasell --version", r"^Gasell \d+\.\d+\.\d+", place.run("--version"))
        expect("gasell doctor", r"^Gasell .*LLVM .*GPU driver .*kernel cache", place.run("doctor"))
        expect("arrays and functions", ARRAYS_ANSWER, place.run(place.folder / "arrays.gsl"))
        expect("the linear algebra library", r"^True True\n$", place.run(place.folder / "matrices.gsl"))
        expect("Parquet files", r"^(True ){5}$", place.run(place.folder / "parquet.gsl"))
        expect("the 2 TB script, smaller", r"^0\.2\n687\d{5}\.\d+\n$", place.run(place.folder / "small.gsl"))
        expect("two simulated GPUs", ARRAYS_ANSWER, place.run("--device", "sim:2", place.folder / "arrays.gsl"))
        expect("functions for GPUs without a toolkit", r"^(?!.*\.extern \.func).*\.target sm_\d+.*\.entry ", place.run("--emit=ptx", "-c", "print(np.tan(np.arange(1e6)).sum())"))
        expect("a session on an unknown terminal", r"^Gasell [^\n]*\n.*>>> .*\n[^\n]*42\n", place.session(["40 + 2", "exit"]))
        if shutil.which("cmake"):
            expect("a program that embeds it", r"the session lives: 0.50\n18\n$", embed(root / bundle, root / "tmp"))
    say(f"FAILED: {', '.join(failed)}" if failed else "the bundle is right")
    return not failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", nargs="?", type=Path)
    parser.add_argument("--needs", nargs="+", metavar="FILE")
    options = parser.parse_args()
    if options.needs:
        return 0 if check_needs(options.needs) else 1
    if options.archive is None or not options.archive.is_file():
        parser.error(f"there is no archive {options.archive or ''}")
    return 0 if check_bundle(options.archive.resolve()) else 1


if __name__ == "__main__":
    sys.exit(main())
