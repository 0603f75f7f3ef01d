#!/usr/bin/env python3
"""Files of every kind that Gasell reads, damaged: whatever their bytes, reading ends with values or an exception, never by a signal, an internal error or memory
beyond all bounds.

    fuzz_files.py --files 150 --seed 1     what ctest runs
    fuzz_files.py --files 5000 --seed 0    so many of each kind; --seed 0 takes a new seed and prints it
    fuzz_files.py --only h5                HDF5 files, which are left out otherwise: libhdf5 1.10 itself crashes on fewer than one in a hundred (docs/hdf5.md)

Gasell writes a valid file of each kind; bits are flipped, parts are cut, doubled and removed, and numbers get extreme values. One process reads many damaged files,
by turns in all the ways there are (portions, some columns, filters, …), and says which comes before it reads it, so that the last one is to blame. A file that fails
is kept under build/fuzz; its number tells the way. The closing line is `N passed, N failed`.
"""

import argparse
import gzip
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FILES_A_PROCESS = 250
TIMEOUT_S = 120
ADDRESS_SPACE = 16 << 30
MOST_RESIDENT = 2 << 20  # KiB
WRONG = re.compile(r"internal|terminate called|std::|Assertion `|Sanitizer|runtime error:", re.I)
ROWS = 300  # of the valid frames
EXTREMES = [0, 1, -1, 127, -128, 255, 1 << 15, 1 << 16, 1 << 20, (1 << 31) - 1, -(1 << 31), 1 << 32, 1 << 40, (1 << 63) - 1, -(1 << 63)]
PIECES = [b'"', b"\n", b"\r", b",", b"\0", b"\xff", b"\xe2\x82", b"{", b"[", b"1e999", b"-", b"\\", b"99999999999999999999", b"NaN", b"(" * 40, b"[" * 2000, b"'", b"1.-3", b'{"a":' * 2000, b"\\u", b"\\ud800"]
NUMBERS = [b"", b"-1", b"1099511627776", b"9223372036854775808", b"18446744073709551616", b"1" + b"0" * 400, b"1e999", b"1e-999", b"0x7f", b"01", b"4294967296, 4294967296"]

WRITE = """
import numpy as np
import pandas as pd
n = 300
df = pd.DataFrame({'i': np.arange(n), 'f': np.arange(n) / 7, 't': [f'text {k % 5}, "é"' for k in range(n)], 'b': np.arange(n) % 3 == 0,
                   'd': pd.date_range('2020-01-01', periods=n), 'u': np.arange(n).astype('uint8')})
df['m'] = df.f.where(df.b)
df.to_csv('plain.csv', index=False)
df.to_csv('packed.csv.gz', index=False)
df.to_csv('packed.csv.zst', index=False)
df[['i', 'f']].to_csv('blanks.csv', index=False, sep=' ')
df.to_json('lines.json', orient='records', lines=True)
df.to_json('list.json', orient='records')
df.to_json('split.json', orient='split')
np.save('a.npy', np.arange(60.0).reshape(3, 20))
np.save('b.npy', np.arange(50) % 3 == 0)
np.save('c.npy', np.array([1 + 2j]))
np.savetxt('t.txt', np.arange(30.0).reshape(10, 3))
try:
    df.to_parquet('a.parquet')
    df.to_parquet('z.parquet', compression='zstd', row_group_size=120)
    df.to_feather('a.feather')
    df.to_feather('u.feather', compression='uncompressed')
    df.drop(columns='u').to_orc('a.orc')
except Exception as e:
    print(type(e).__name__)
try:
    import h5py
    with h5py.File('a.h5', 'w') as f:
        f['x'] = np.arange(60.0).reshape(3, 20)
        f['g/b'], f['g/h/c'], f['one'] = np.arange(50) % 3 == 0, np.array([1 + 2j]), 7
        f['g'].attrs['text'], f['g'].attrs['numbers'], f.attrs['texts'] = 'some', np.arange(5), ['a', 'b']
        f['soft'] = h5py.SoftLink('/g/b')
    with h5py.File('packed.h5', 'w') as f:
        f.create_dataset('x', data=np.arange(300).reshape(15, 20), chunks=(4, 6), compression='gzip', shuffle=True, fletcher32=True, maxshape=(None, 20))
        f.create_dataset('y', data=np.arange(300.0), chunks=(70,), fillvalue=1.5)
        f['texts'] = [f'text {k}' for k in range(40)]
        for k in range(30):
            f[f'many/{k}'] = np.arange(k, dtype='i2')
            f.attrs[str(k)] = k
except Exception as e:
    print(type(e).__name__)
"""

READ = """
import numpy as np
import pandas as pd

def shown(value):
    if isinstance(value, str):
        return len(value)
    if isinstance(value, (pd.DataFrame, pd.Series)):
        return len(value.to_csv()) if len(value) < 100000 else value.count().sum() + len(str(value.tail(3)))
    return len(str(value)) + len(str(value.tolist() if value.size < 100000 else value.ravel()[-5:]))

def whole_file(path, mode='r'):
    import h5py
    sizes = []
    with h5py.File(path, mode) as f:
        def walk(name, found):
            sizes.append((name, list(found.attrs.items())))
            if isinstance(found, h5py.Dataset):
                sizes.append((found.shape, found.chunks, found.maxshape, found.compression, found.fillvalue if found.name != '/texts' else None))
                sizes.append(str(found[...] if found.name != '/texts' else found.asstr()[...]))
        f.visititems(walk)
        sizes.append((list(f.attrs.items()), [name for name in f]))
    return str(sizes)

def by_name(path):
    import h5py
    f = h5py.File(path)
    found = []
    for name in ('x', 'y', 'soft', 'g/b', 'g/h/c', 'one', 'many/7'):
        if name in f:
            found += [str(f[name][()]), str(f[name][-1:] if f[name].ndim else ''), str(da.from_array(f[name], chunks=3).sum().compute())]
    return str(found)

def changed(path):
    import h5py
    with h5py.File(path, 'r+') as f:
        f.attrs['new'] = 'text'
        f['new'] = np.arange(9)
        f['x'][0] = 1
        f.create_group('many/new')
        del f['x']
    return whole_file(path)

def portions(path):
    return pd.concat([part for part in pd.read_csv(path, chunksize=7)])

# The ways of reading a kind; its files take turns.
WAYS = {
    'plain.csv': [pd.read_csv, portions, lambda p: pd.read_csv(p, nrows=5, index_col=0), lambda p: pd.read_csv(p, header=None, dtype=str, escapechar='\\\\'),
                  lambda p: pd.read_csv(p, parse_dates=['d'], comment='#', on_bad_lines='skip'), lambda p: pd.read_csv(p, dtype={'i': 'int8', 'f': 'float32'}),
                  lambda p: pd.read_csv(p, sep=None, engine='python'), lambda p: pd.read_csv(p, usecols=['t', 'b'], thousands='.', quotechar='4')],
    'packed.csv': [pd.read_csv, portions],
    'blanks.csv': [lambda p: pd.read_csv(p, sep=r'\\s+'), lambda p: pd.read_csv(p, sep=' ', skipinitialspace=True, skip_blank_lines=False)],
    'lines.json': [lambda p: pd.read_json(p, lines=True), lambda p: pd.read_json(p, lines=True, convert_dates=['d'], nrows=9)],
    'list.json': [pd.read_json],
    'split.json': [lambda p: pd.read_json(p, orient='split')],
    'npy': [np.load, lambda p: np.load(p, mmap_mode='r')],
    'npz': [np.load],
    'txt': [np.loadtxt, np.genfromtxt, lambda p: np.loadtxt(p, delimiter=',', usecols=[0, 2]), lambda p: np.genfromtxt(p, delimiter=','),
            lambda p: np.fromstring(open(p).read(), sep=' ')],
    'parquet': [pd.read_parquet, lambda p: pd.read_parquet(p, columns=['t', 'i']), lambda p: pd.read_parquet(p, filters=[('i', '>', 11)])],
    'feather': [pd.read_feather, lambda p: pd.read_feather(p, columns=['t', 'i'])],
    'h5': [whole_file, by_name, changed],
    'orc': [pd.read_orc, lambda p: pd.read_orc(p, columns=['t', 'i'])],
}

def read(path):
    name, kind = path.split('.')[:2]
    stem, number = name.rsplit('_', 1)
    ways = WAYS.get(stem + '.' + kind) or WAYS[kind]
    return shown(ways[int(number) % len(ways)](path))

for path in PATHS:
    print('reading', path, flush=True)
    try:
        print(read(path))
    except Exception as e:
        print(type(e).__name__, str(e)[:300])
print('finished')
"""


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def announcing(data, rng):
    """Some of the places that say how many rows there are say something else: a footer's varints, an IPC file's 64 bits."""
    number = rng.choice([*EXTREMES, 1 << 61, (1 << 61) + ROWS, 1 << 62, ROWS - 1, ROWS + 1]) & ((1 << 64) - 1)
    forms = [(lambda v: varint(v << 1 & ((1 << 64) - 1))), varint, lambda v: v.to_bytes(8, "little")]
    begin, end = 0, len(data)
    if data[-4:] == b"PAR1":  # the footer alone, whose length stands behind it
        end -= 8
        begin = max(0, end - int.from_bytes(data[-8:-4], "little"))
    part = data[begin:end]
    form = rng.choice([f for f in forms if f(ROWS) in part] or forms)
    share = rng.choice((0.3, 0.7, 1))
    first, *others = part.split(form(ROWS))
    part = first + b"".join((form(number) if rng.random() < share else form(ROWS)) + other for other in others)
    return data[:begin] + part + (len(part).to_bytes(4, "little") + b"PAR1" if end < len(data) else b"")


def damaged(data, rng, is_text):
    """Most texts stay UTF-8, and half of the other files keep their length and their ends, so that readers come further than the first check."""
    if not is_text and rng.random() < 0.15:
        return announcing(data, rng)
    whole, keeps_ends = data, not is_text and rng.random() < 0.5
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if not data:
            return data
        at, kind = rng.randrange(len(data)), rng.choice((0, 1, 2, 9)) if keeps_ends else rng.randrange(11)
        if is_text and 5 < kind < 8 and rng.random() < 0.9:
            kind = 10
        if rng.random() < 0.3:  # what tells lengths stands at the ends
            at = rng.choice((rng.randrange(min(len(data), 64)), len(data) - 1 - rng.randrange(min(len(data), 64))))
        length = min(rng.choice((1, 2, 4, 8, 33, 200)), len(data) - at)
        if kind < 3:
            flipped = bytearray(data)
            for _ in range(rng.choice((1, 1, 3, 8))):
                flipped[at if rng.random() < 0.5 else rng.randrange(len(data))] ^= 1 << rng.randrange(7 if is_text else 8)
            data = bytes(flipped)
        elif kind == 3:
            data = data[:at]
        elif kind == 4:
            data = data[:at] + data[at + length :]
        elif kind == 5:
            data = data[: at + length] + data[at:]
        elif kind < 8:
            width = rng.choice((1, 2, 4, 8))
            number = (rng.choice(EXTREMES) & ((1 << 8 * width) - 1)).to_bytes(width, rng.choice(("little", "little", "big")))
            data = data[:at] + number + data[at + width :]
        elif kind == 9:
            number = varint(rng.choice(EXTREMES) & ((1 << 64) - 1))
            data = data[:at] + number + data[at + (len(number) if keeps_ends else 1) :]
        elif kind == 10:
            numbers = list(re.finditer(rb"\d+", data))
            if numbers:
                found = rng.choice(numbers[:8] if rng.random() < 0.5 else numbers)
                data = data[: found.start()] + rng.choice(NUMBERS) + data[found.end() :]
        else:
            data = data[:at] + rng.choice(PIECES) + data[at:]
    return whole[:6] + data[6:-8] + whole[-8:] if keeps_ends else data


def make(name, data, rng):
    """Of a packed file either its bytes or what it holds is damaged."""
    if name.endswith(".gz") and rng.random() < 0.5:
        return gzip.compress(damaged(gzip.decompress(data), rng, True), 1)
    return damaged(data, rng, name.endswith((".csv", ".json", ".txt")))


def run(options, folder, script):
    """(what it printed, its status, KiB that it had in memory at most)"""
    (folder / "script.gsl").write_text(script, encoding="utf-8")

    def limit():
        if not options.no_limit:
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with open(folder / "output", "w+b") as output:
        process = subprocess.Popen([options.gasell, "script.gsl"], cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, preexec_fn=limit)
        timer = subprocess.Popen(["sh", "-c", f"sleep {TIMEOUT_S}; kill -9 {process.pid}"], start_new_session=True)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        os.killpg(timer.pid, 9)
        timer.wait()
        output.seek(0)
        return output.read().decode("utf-8", "replace"), process.returncode, usage.ru_maxrss


def check(options, folder, paths):
    """The paths that were read well up to the first that was not, and what was wrong with it."""
    output, status, resident = run(options, folder, READ.replace("PATHS", repr(paths)))
    parts = re.split(r"^reading (\S+)$", output, flags=re.M)
    names, answers = parts[1::2], parts[2::2]
    for k, (name, answer) in enumerate(zip(names, answers)):
        if WRONG.search(answer):
            return k, name, answer.strip()[-2000:]
    if status != 0 or not output.rstrip().endswith("finished"):
        return max(0, len(names) - 1), names[-1] if names else paths[0], f"status {status}: {output[-1500:]}"
    if resident > MOST_RESIDENT and not options.no_limit:
        if len(paths) == 1:
            return 0, paths[0], f"{resident >> 10} MiB of memory"
        half = len(paths) // 2
        good, name, wrong = check(options, folder, paths[:half])
        if wrong:
            return good, name, wrong
        more, name, wrong = check(options, folder, paths[half:])
        return good + more, name, wrong
    return len(paths), "", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--files", type=int, default=150, help="damaged files of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="a part of the names of the kinds")
    parser.add_argument("--more", default="", help="a folder of valid files of other programs, which are damaged, too")
    parser.add_argument("--no-limit", action="store_true", help="no limits of memory (sanitizers map terabytes)")
    options = parser.parse_args()
    options.gasell = str(Path(options.gasell).resolve())
    seed = options.seed or random.SystemRandom().randrange(1, 1 << 31)
    print(f"seed {seed}")
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="gasell-files-") as temporary:
        folder = Path(temporary)
        print(run(options, folder, WRITE)[0], end="")
        for path in sorted(Path(options.more).iterdir()) if options.more else []:
            shutil.copy(path, folder)
        kinds = [p for p in sorted(folder.iterdir()) if p.name not in ("script.gsl", "output") and options.only in p.name and (options.only or p.suffix != ".h5")]
        if not kinds:
            print("Gasell wrote no files", file=sys.stderr)
            return 1
        for kind in kinds:
            data = kind.read_bytes()
            rng = random.Random(f"{seed} {kind.name}")
            for first in range(0, options.files, FILES_A_PROCESS):
                stem, dot, extensions = kind.name.partition(".")
                paths = [f"{stem}_{k}{dot}{extensions}" for k in range(first, min(options.files, first + FILES_A_PROCESS))]
                for path in paths:
                    (folder / path).write_bytes(make(kind.name, data, rng))
                rest = paths
                while rest:
                    good, name, wrong = check(options, folder, rest)
                    passed += good
                    rest = rest[good + 1 :] if wrong else []
                    if wrong:
                        failed += 1
                        kept = ROOT / "build/fuzz" / f"{seed}-{name}"
                        kept.parent.mkdir(parents=True, exist_ok=True)
                        kept.write_bytes((folder / name).read_bytes())
                        print(f"FAILED {kept}: {wrong}")
                for path in paths:
                    (folder / path).unlink()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
