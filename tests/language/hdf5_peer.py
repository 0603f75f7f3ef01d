#!/usr/bin/env python3
"""Exchanges HDF5 files with the package h5py: what it writes, Gasell reads, and the other way round.

    tests/language/hdf5_peer.py --gasell build/dev/bin/gasell --peer PYTHON

PYTHON has h5py 3. All dtypes in both byte orders, ways of storing, texts, attributes, the library's newest format. Exit status: 0 when all are the same."""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

WRITE = r"""
import json, sys, h5py, numpy as np
expected = {}
def plain(x):
    return [[x.real.tolist(), x.imag.tolist()]] if x.dtype.kind == "c" else x.tolist()
def write(f, name, data, **how):
    f.create_dataset(name, data=data, **how)
    expected[f"{f.filename}|{name}"] = plain(data)
a = np.arange(35).reshape(5, 7)
for file, settings in (("earliest.h5", {}), ("latest.h5", {"libver": "v110"}), ("block.h5", {"userblock_size": 512}), ("order.h5", {"track_order": True})):
    with h5py.File(file, "w", **settings) as f:
        for t in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"):
            for order in "<>" if t not in ("?", "i1", "u1") else "<":
                write(f, f"contiguous {order}{t}", (a % 3).astype(order + t))
                write(f, f"group/chunked {order}{t}", (a % 3).astype(order + t), chunks=(2, 3), compression="gzip", shuffle=True, fletcher32=True)
        write(f, "grown", a, maxshape=(None, None), chunks=(2, 2))
        f["grown"].resize((6, 8))
        expected[f"{file}|grown"] = f["grown"][...].tolist()
        write(f, "scale", a.astype("i4"), chunks=(5, 7), scaleoffset=0)
        write(f, "scalar", np.array(7.5))
        write(f, "empty", np.zeros((0, 3)))
        write(f, "deep", np.arange(720.0).reshape(1, 2, 3, 4, 5, 6))
        f.create_dataset("fill", (3,), "f4", fillvalue=1.5)
        expected[f"{file}|fill"] = [1.5] * 3
        f.create_dataset("enumeration", data=np.array([1, 2, 1], "i2"), dtype=h5py.enum_dtype({"a": 1, "b": 2}, "i2"))
        expected[f"{file}|enumeration"] = [1, 2, 1]
        f["link"] = h5py.SoftLink("/grown")
        expected[f"{file}|link"] = expected[f"{file}|grown"]
        f["other"] = h5py.ExternalLink("earliest.h5", "/scalar")
        if file != "earliest.h5":
            expected[f"{file}|other"] = 7.5
        for name, data in (("varying", ["a", "ü", ""]), ("fixed", np.array([b"abc", b"d", b""])), ("text", "one"), ("fixed text", np.bytes_(b"one"))):
            f.create_dataset("texts/" + name, data=data)
            expected[f"{file}|texts/{name}"] = ["a", "ü", ""] if name == "varying" else ["abc", "d", ""] if name == "fixed" else "one"
        f.create_dataset("texts/utf8", (2,), h5py.string_dtype("utf-8", 4))[...] = ["ü", "x"]
        expected[f"{file}|texts/utf8"] = ["ü", "x"]
        for name, value in (("int", 5), ("float", 2.5), ("text", "ü"), ("fixed", np.bytes_("abc")), ("array", np.arange(3)), ("texts", ["a", "bc"]), ("big", np.array([1, 2], ">i4")), ("truth", True)):
            f.attrs[name] = value
            expected[f"{file}|attribute {name}"] = value.decode() if isinstance(value, bytes) else np.asarray(value).tolist()
print(json.dumps(expected))
"""

SHOW = r"""
import h5py
files = {}
def plain(x):
    return [[x.real.tolist(), x.imag.tolist()]] if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind == "c" else x.tolist() if isinstance(x, (np.ndarray, np.generic)) else x if isinstance(x, str) else list(x)
for key in KEYS:
    file, _, name = key.partition("|")
    f = files[file] = files[file] if file in files else h5py.File(file)
    if name.startswith("attribute "):
        value = plain(f.attrs[name[10:]])
    elif name.startswith("texts/"):
        value = plain(f[name].asstr()[()])
    else:
        value = plain(f[name][()])
    print(repr(value))
"""

STORE = r"""
import h5py
a = np.arange(35).reshape(5, 7)
with h5py.File("gasell.h5", "w") as f:
    for t in ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"):
        f["contiguous " + t] = (a % 3).astype(t)
        f.create_dataset("group/chunked " + t, data=(a % 3).astype(t), chunks=(2, 3), compression="gzip", shuffle=True, fletcher32=True)
    f.create_dataset("grown", data=a, maxshape=(None, None), chunks=(2, 2)).resize((6, 8))
    f["scalar"], f["empty"], f["text"], f["texts"] = 7.5, np.zeros((0, 3)), "one", ["a", "ü", ""]
    f.create_dataset("fill", (3,), "f4", fillvalue=1.5)
    f["link"] = h5py.SoftLink("/grown")
    for name, value in (("int", 5), ("float", 2.5), ("text", "ü"), ("array", np.arange(3)), ("texts", ["a", "bc"]), ("truth", True)):
        f["grown"].attrs[name] = value
da.arange(35, chunks=10).reshape((5, 7)).rechunk((2, 3)).to_hdf5("gasell.h5", "/dask", compression="gzip")
"""

CHECK = r"""
import h5py, numpy as np
a = np.arange(35).reshape(5, 7)
with h5py.File("gasell.h5") as f:
    for t in ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"):
        for name in ("contiguous " + t, "group/chunked " + t):
            assert f[name].dtype == np.dtype(t) and (f[name][...] == (a % 3).astype(t)).all(), name
    assert f["group/chunked i4"].chunks == (2, 3) and f["group/chunked i4"].compression == "gzip" and f["group/chunked i4"].shuffle and f["group/chunked i4"].fletcher32
    grown = np.zeros((6, 8), int)
    grown[:5, :7] = a
    assert (f["grown"][...] == grown).all() and f["grown"].maxshape == (None, None) and (f["link"][...] == grown).all()
    assert f["scalar"][()] == 7.5 and f["empty"].shape == (0, 3) and f["text"].asstr()[()] == "one" and f["texts"].asstr()[...].tolist() == ["a", "ü", ""]
    assert f["fill"][...].tolist() == [1.5] * 3
    found = {name: value if isinstance(value, str) else value.tolist() for name, value in f["grown"].attrs.items()}
    assert found == {"int": 5, "float": 2.5, "text": "ü", "array": [0, 1, 2], "texts": ["a", "bc"], "truth": True}, found
    assert f["dask"].chunks == (2, 3) and (f["dask"][...] == a).all()
print("h5py reads what Gasell wrote")
"""


def run(command, folder):
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def gasell(options, folder, text):
    (Path(folder) / "script.gsl").write_text(text)
    return run([options.gasell, "script.gsl"], folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", required=True)
    parser.add_argument("--peer", required=True)
    options = parser.parse_args()
    options.gasell = str(Path(options.gasell).resolve())
    with tempfile.TemporaryDirectory() as folder:
        expected = json.loads(run([options.peer, "-W", "ignore", "-c", WRITE], folder))
        shown = gasell(options, folder, f"KEYS = {list(expected)!r}\n" + SHOW).splitlines()
        found = dict(zip(expected, shown))
        wrong = [key for key in expected if found.get(key) != repr(expected[key])]
        for key in wrong:
            print(f"{key}: {found.get(key)} instead of {expected[key]!r}")
        print(f"h5py's files in Gasell: {len(expected) - len(wrong)} of {len(expected)} the same")
    with tempfile.TemporaryDirectory() as folder:
        gasell(options, folder, STORE)
        print(run([options.peer, "-W", "ignore", "-c", CHECK], folder), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
