#!/usr/bin/env python3
"""Makes the wheel gasell-VERSION-cp310-abi3-PLATFORM.whl of a build: one for CPython 3.10 and all later ones.

    tools/python/wheel.py --build build/dev [--out dist]                      with the libraries of this machine: for itself
    tools/python/wheel.py --build build/release --bundle build/bundle/gasell-0.1.0-linux-x86_64 [--out dist]
                                                                              with those of a portable bundle (scripts/wheel.sh)

Where the build is the same, so are the wheel's bytes: names are sorted, times are the commit's (or SOURCE_DATE_EPOCH)."""

import argparse
import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Every process of Python's may have loaded these already, and manylinux says that a machine has them.
OF_THE_MACHINE = ("libstdc++.so", "libgcc_s.so")

METADATA = """Metadata-Version: 2.1
Name: gasell
Version: {version}
Summary: A small array and dataframe language, embedded and JIT-compiled
Requires-Python: >=3.10
License-File: LICENSE
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Provides-Extra: numpy
Requires-Dist: numpy>=2; extra == "numpy"
Provides-Extra: notebook
Requires-Dist: ipykernel>=6; extra == "notebook"
Provides-Extra: frames
Requires-Dist: pandas>=2.3; extra == "frames"
Requires-Dist: pyarrow>=15; extra == "frames"
Provides-Extra: dask
Requires-Dist: dask[array]>=2025.1; extra == "dask"
Description-Content-Type: text/markdown

{description}"""


def version_of(build):
    cache = (build / "CMakeCache.txt").read_text()
    return re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.+)$", cache, re.M)[1]


def epoch():
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    told = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True)
    return int(told.stdout) if told.returncode == 0 and told.stdout.strip() else int((ROOT / "CHANGELOG.md").stat().st_mtime)


def stripped(file):
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["strip", "--strip-unneeded", "-o", out.name, file], check=True)
        return Path(out.name).read_bytes()


def libraries(build, bundle):
    """Names in the package's lib/, and their bytes."""
    lib = (bundle / "lib") if bundle else build / "lib"
    found = {"libgasell.so.0": stripped((lib / "libgasell.so.0").resolve())}
    if bundle:
        for file in sorted((lib / "gasell").iterdir()):
            if not file.name.startswith(OF_THE_MACHINE):
                found[f"gasell/{file.name}"] = file.resolve().read_bytes()
    return found


def platform_of(bundle):
    return "manylinux_2_36_x86_64" if bundle else f"linux_{os.uname().machine}"


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def contents(build, bundle):
    version = version_of(build)
    package = ROOT / "tools/python/gasell"
    files = {f"gasell/{file.relative_to(package)}": file.read_bytes() for file in package.rglob("*")
             if file.suffix in (".py", ".pyi", ".typed", ".json") and "__pycache__" not in file.parts}
    files["gasell/_gasell.abi3.so"] = stripped(build / "python/gasell/_gasell.abi3.so")
    for name, data in libraries(build, bundle).items():
        files[f"gasell/lib/{name}"] = data
    about = f"gasell-{version}.dist-info"
    files[f"{about}/METADATA"] = METADATA.format(version=version, description=(ROOT / "docs/python.md").read_text()).encode()
    files[f"{about}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: gasell\nRoot-Is-Purelib: false\nTag: cp310-abi3-{platform_of(bundle)}\n".encode()
    files[f"{about}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    if bundle:
        for file in sorted([bundle / "THIRD_PARTY.md", *(bundle / "licences").iterdir()]):
            files[f"{about}/licenses/{file.name}"] = file.read_bytes()
    record = "".join(f"{name},{digest(data)},{len(data)}\n" for name, data in sorted(files.items()))
    files[f"{about}/RECORD"] = f"{record}{about}/RECORD,,\n".encode()
    return version, files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="a build folder: build/dev")
    parser.add_argument("--bundle", type=Path, help="the unpacked bundle of scripts/bundle.sh: its libraries come along")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--level", type=int, default=9, choices=range(1, 10), help="of compression")
    options = parser.parse_args()
    version, files = contents(options.build.resolve(), options.bundle and options.bundle.resolve())
    options.out.mkdir(parents=True, exist_ok=True)
    wheel = options.out / f"gasell-{version}-cp310-abi3-{platform_of(options.bundle)}.whl"
    date = time.gmtime(max(epoch(), 315532800))[:6]  # a zip file begins in 1980
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=options.level) as out:
        for name, data in sorted(files.items(), key=lambda item: (".dist-info/" in item[0], item[0])):
            info = zipfile.ZipInfo(name, date)
            info.external_attr = (0o100755 if ".so" in name else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(info, data, compresslevel=options.level)
    print(wheel)


if __name__ == "__main__":
    sys.exit(main())
