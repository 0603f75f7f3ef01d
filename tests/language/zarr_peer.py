#!/usr/bin/env python3
"""Exchanges arrays with the package zarr: what it writes, Gasell reads, and the other way round.

    tests/language/zarr_peer.py --gasell build/dev/bin/gasell --peer PYTHON

PYTHON has zarr 3. All dtypes, both formats, codecs, orders, key encodings, fill values, edges. Exit status: 0 when all are the same."""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

WRITE = r"""
import json, sys, numcodecs, numpy as np, zarr
from zarr.codecs import BytesCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec
base, a, b = sys.argv[1], np.arange(35).reshape(5, 7), np.arange(120).reshape(4, 5, 6)
expected = {}
def write(name, data, chunks=(2, 3), **how):
    zarr.create_array(f"{base}/{name}", shape=data.shape, dtype=data.dtype, chunks=chunks, **how)[...] = data
    expected[name] = data.tolist()
for f in (2, 3):
    for t in ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"):
        write(f"{t} {f}", (a % 3).astype(t), zarr_format=f)
    write(f"none {f}", a, zarr_format=f, compressors=None)
    write(f"no axes {f}", np.array(7.5), (), zarr_format=f)
    for name, fill in (("inf", -np.inf), ("number", 1.5)):
        z = zarr.create_array(f"{base}/fill {name} {f}", shape=(5,), chunks=(2,), dtype="f8", fill_value=fill, zarr_format=f)
        z[:2] = 1
        expected[f"fill {name} {f}"] = z[...].tolist()
for t in (">f8", ">i2"):
    write(f"big {t[1:]}", a.astype(t), zarr_format=2)
write("zlib", a, zarr_format=2, compressors=numcodecs.Zlib(5))
write("gzip", a, zarr_format=2, compressors=numcodecs.GZip(5))
write("zstd", a, zarr_format=2, compressors=numcodecs.Zstd(3))
write("F", a, zarr_format=2, order="F")
write("slash", a, zarr_format=2, chunk_key_encoding={"name": "v2", "separator": "/"})
write("gzip 3", a, compressors=GzipCodec(level=3))
write("zstd with checksum", a, compressors=ZstdCodec(level=3, checksum=True))
write("crc32c", a, compressors=[ZstdCodec(), Crc32cCodec()])
write("crc32c alone", a, compressors=[Crc32cCodec()])
write("turned", b, (2, 3, 4), filters=[TransposeCodec(order=(2, 0, 1))])
write("turned twice", b, (2, 3, 4), filters=[TransposeCodec(order=(2, 0, 1)), TransposeCodec(order=(1, 0, 2))])
write("big", a, serializer=BytesCodec(endian="big"))
write("dots", a, chunk_key_encoding={"name": "default", "separator": "."})
write("keys of format 2", a, chunk_key_encoding={"name": "v2", "separator": "."})
write("empty", np.zeros((0, 3)))
print(json.dumps(expected))
"""

CODECS = {
    "zlib 2": "{'id': 'zlib', 'level': 3}",
    "gzip 2": "{'id': 'gzip', 'level': 3}",
    "zstd 2": "{'id': 'zstd', 'level': 3}",
    "gzip 3": "{'name': 'gzip', 'configuration': {'level': 3}}",
    "crc32c 3": "[{'name': 'zstd', 'configuration': {'level': 3}}, {'name': 'crc32c'}]",
    "zlib 3": "[{'name': 'numcodecs.zlib', 'configuration': {'level': 3}}]",
    "none 2": "None",
    "none 3": "None",
}
DTYPES = "bool i1 i2 i4 i8 u1 u2 u4 u8 f4 f8".split()

READ = r"""
import json, sys, zarr
found = {}
for name in sys.argv[2:]:
    found[name] = zarr.open_array(f"{sys.argv[1]}/{name}")[...].tolist()
print(json.dumps(found))
"""


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def gasell(options, folder, text):
    script = Path(folder) / "script.gsl"
    script.write_text(text)
    return run([options.gasell, str(script)])


def compare(what, expected, found):
    wrong = [name for name in expected if found.get(name) != expected[name]]
    for name in wrong:
        print(f"{what}, {name}: {str(found.get(name))[:200]} instead of {str(expected[name])[:200]}")
    print(f"{what}: {len(expected) - len(wrong)} of {len(expected)} the same")
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", required=True)
    parser.add_argument("--peer", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        expected = json.loads(run([options.peer, "-W", "ignore", "-c", WRITE, folder]))
        shown = gasell(options, folder, "".join(f"print(da.from_zarr({f'{folder}/{name}'!r}).tolist())\n" for name in expected))
        texts = [line.replace("True", "true").replace("False", "false").replace("inf", "Infinity") for line in shown.splitlines()]
        good = compare("zarr's arrays in Gasell", expected, dict(zip(expected, map(json.loads, texts))))
    with tempfile.TemporaryDirectory() as folder:
        rows = [[k * 7 + i for i in range(7)] for k in range(5)]
        text, expected = "a = da.arange(35, chunks=35).reshape((5, 7)).rechunk((2, 3))\n", {}
        for f in (2, 3):
            for t in DTYPES:
                text += f"(a % 3).astype({t!r}).to_zarr({f'{folder}/{t} {f}'!r}, zarr_format={f})\n"
                expected[f"{t} {f}"] = [[bool(n % 3) if t == "bool" else n % 3 for n in row] for row in rows]
        for name, codec in CODECS.items():
            text += f"a.to_zarr({f'{folder}/{name}'!r}, zarr_format={name[-1]}, compressors={codec})\n"
            expected[name] = rows
        gasell(options, folder, text)
        found = json.loads(run([options.peer, "-W", "ignore", "-c", READ, folder, *expected]))
        good = compare("Gasell's arrays in zarr", expected, found) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
