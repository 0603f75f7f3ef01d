#!/usr/bin/env python3
"""Random stencils with random neighbourhoods, border modes and arrays, under Gasell and as sums of shifted slices of np.pad's result under NumPy: the same numbers.

    fuzz_stencils.py --runs 5 --seed 1 --peer .venv/bin/python3

Each run is a script of 40 stencils, which Gasell computes as they are, in chunks of a few elements, and on four simulated GPUs. Numbers are small whole ones in
the type of the array, so that every element is compared exactly. The closing line is `N passed, N failed`; without a peer nothing is run.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
STENCILS_A_RUN = 40
NOT_RUN = 77  # what ctest shows as skipped
PAD_MODES = {"nearest": "edge", "reflect": "symmetric", "mirror": "reflect", "wrap": "wrap"}
CONFIGURATIONS = [{}, {"GASELL_CHUNK": "7"}, {"GASELL_DEVICE": "sim:4", "GASELL_SPLIT_FROM": "0", "GASELL_CHUNK": "64"}]
TYPES = ["np.int8", "np.int32", "np.int64", "np.float32", "np.float64"]
VIEWS = ["{}", "{}", "{}", "{}[::-1]", "{}.T", "{}[..., ::-1]", "({} + 1)", "{}.copy()"]

GASELL_HEAD = """
import numpy as np
from numba import stencil, stencil_iterate
def show(number, f):
    try:
        r = np.asarray(f())
        print(number, r.shape, (r.astype(np.float64) + 0.0).tolist())
    except Exception as e:
        print(number, type(e).__name__, e)
"""
PEER_HEAD = """
import numpy as np
def bordered(kernel, arrays, before, after, mode, cval):
    a = arrays[0]
    inside = np.zeros(a.shape, bool)
    inside[tuple(slice(b, max(n - e, b)) for b, e, n in zip(before, after, a.shape))] = True
    if a.size == 0 and mode != "valid":
        return a
    wide = [np.pad(x, list(zip(before, after)), mode if mode in ("edge", "symmetric", "reflect", "wrap") else "constant") for x in arrays]
    def shifted(k, *offsets):
        return wide[k][tuple(slice(b + o, b + o + n) for b, o, n in zip(before, offsets, a.shape))].astype(np.float64)
    r = kernel(shifted)
    if mode == "valid":
        return r[tuple(slice(b, max(n - e, b)) for b, e, n in zip(before, after, a.shape))]
    return r if mode != "constant" else np.where(inside, r, cval)
def show(number, f):
    r = np.asarray(f())
    print(number, r.shape, (r.astype(np.float64) + 0.0).tolist())
"""


def offsets_of(rng, rank):
    reach = rng.choice([1, 1, 1, 2, 2, 4])
    low, high = rng.choice([-reach, -reach, 0, -1]), rng.choice([reach, reach, 0, 1])
    return [tuple(rng.randint(low, high) for _ in range(rank)) for _ in range(rng.randint(1, 6))]


class Stencil:
    """`item(k, offsets)` of the texts is how each of the two writes the k-th array's element there."""

    def __init__(self, rng):
        self.rng = rng
        self.rank = rng.choice([1, 1, 2, 2, 2, 3])
        self.arrays = rng.choice([1, 1, 1, 2])
        self.mode = rng.choice(["constant", "valid", *PAD_MODES])
        self.terms = [(rng.randrange(self.arrays), at, rng.choice([1, 1, 2, -1, -3])) for at in offsets_of(rng, self.rank)]
        if all(k for k, _, _ in self.terms):
            self.terms.append((0, (0,) * self.rank, 1))
        # Numba's and ours reach as far as constant indices do, or as the neighborhood says: that of all arrays.
        used = [at for _, at, _ in self.terms]
        self.reach = [(min(0, *(at[d] for at in used), 0), max(0, *(at[d] for at in used), 0)) for d in range(self.rank)]
        self.form = rng.choice(["sum", "sum", "extreme", "branch", "loop"])
        self.cval = rng.choice([0, 0, 5, -2])
        self.scale = rng.choice([1, 2])

    def body(self, item):
        one = lambda k: item(*self.terms[k % len(self.terms)][:2])
        total = " + ".join(f"{w} * {item(k, at)}" for k, at, w in self.terms)
        return total, one

    def gasell(self, number):
        rng, names = self.rng, "ab"
        item = lambda k, at: f"{names[k]}[{', '.join(map(str, at))}]"
        total, one = self.body(item)
        options = [] if self.mode == "constant" else [repr(self.mode)]
        if self.mode == "constant" and self.cval:
            options.append(f"cval={self.cval}")
        head = f"def f{number}({', '.join(names[:self.arrays])}):"
        if self.form == "sum":
            lines = [f"    return {total}"]
        elif self.form == "extreme":
            lines = [f"    return max({one(0)}, {one(1)}) - min({one(2)}, {total})"]
        elif self.form == "branch":
            lines = [f"    if {one(0)} > {one(1)}:", f"        return {total}", f"    return {one(2)} * {self.scale}"]
        else:
            options.append(f"neighborhood=({', '.join(f'({low}, {high})' for low, high in self.reach)},)")
            variables = [f"i{d}" for d in range(self.rank)]
            lines = ["    s = 0 * a[" + ", ".join(["0"] * self.rank) + "]"]
            for d, (low, high) in enumerate(self.reach):
                lines.append("    " * (d + 1) + f"for {variables[d]} in range({low}, {high + 1}):")
            lines.append("    " * (self.rank + 1) + f"s += a[{', '.join(variables)}] * ({' + '.join(f'{d + 1} * {v}' for d, v in enumerate(variables))})")
            lines.append(f"    return s + {total}")
        decorator = f"@stencil({', '.join(options)})" if options else "@stencil"
        return [decorator, head, *lines]

    def peer(self, number):
        item = lambda k, at: f"at({k}, {', '.join(map(str, at))})"
        total, one = self.body(item)
        if self.form == "sum":
            result = total
        elif self.form == "extreme":
            result = f"np.maximum({one(0)}, {one(1)}) - np.minimum({one(2)}, {total})"
        elif self.form == "branch":
            result = f"np.where({one(0)} > {one(1)}, {total}, {one(2)} * {self.scale})"
        else:
            loops = " ".join(f"for i{d} in range({low}, {high + 1})" for d, (low, high) in enumerate(self.reach))
            weight = " + ".join(f"{d + 1} * i{d}" for d in range(self.rank))
            result = f"sum(at(0, {', '.join(f'i{d}' for d in range(self.rank))}) * ({weight}) {loops}) + {total}"
        before, after = [-low for low, _ in self.reach], [high for _, high in self.reach]
        return [f"def f{number}(*arrays):", f"    return bordered(lambda at: {result}, arrays, {before}, {after}, {PAD_MODES.get(self.mode, self.mode)!r}, {self.cval})"]

    def calls(self):
        rng = self.rng
        for _ in range(3):
            sizes = [rng.choice([0, 1, 1, 2, 3, 4, 5, 9] if self.rank < 3 else [1, 2, 3, 5]) for _ in range(self.rank)]
            if rng.random() < 0.3:
                sizes[0] = rng.choice([40, 97] if self.rank < 3 else [17])
            count = 1
            for n in sizes:
                count *= n
            kind, view = rng.choice(TYPES), rng.choice(VIEWS)
            arrays = [view.format(f"(np.arange({count}) * {rng.choice([1, 3, 7])} % {rng.choice([5, 6, 11])}).astype({kind}).reshape({tuple(sizes)})") for _ in range(self.arrays)]
            yield ", ".join(arrays)


def program(rng):
    gasell, peer, shown, number = [GASELL_HEAD], [PEER_HEAD], [], 0
    for k in range(STENCILS_A_RUN):
        s = Stencil(rng)
        texts = s.gasell(k), s.peer(k)
        gasell += texts[0]
        peer += texts[1]
        for call in s.calls():
            forms = [f"show({number}, lambda: f{k}({call}))"] * 2
            if s.arrays == 1 and s.mode != "valid" and s.form == "sum" and rng.random() < 0.3:
                # Each step makes numbers larger: of floats they stay whole up to 2**53.
                forms = [f"show({number}, lambda: stencil_iterate(f{k}, ({call}).astype(np.float64), 3))", f"show({number}, lambda: f{k}(f{k}(f{k}({call}))))"]
            gasell.append(forms[0])
            peer.append(forms[1])
            shown.append("\n".join([*texts[0], forms[0]]))
            number += 1
    return "\n".join(gasell) + "\n", "\n".join(peer) + "\n", shown


def answers(command, settings):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GASELL_")} | settings
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    lines = dict(line.split(" ", 1) for line in done.stdout.splitlines() if line[:1].isdigit())
    return lines, "" if done.returncode == 0 else f"status {done.returncode}: {done.stderr[-300:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default=os.environ.get("GASELL", str(ROOT / "build/dev/bin/gasell")))
    parser.add_argument("--peer", default=str(ROOT / ".venv/bin/python3"))
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not Path(options.peer).exists():
        print("there is no Python with NumPy 2 in .venv (scripts/python_env.sh makes it): nothing is compared")
        return NOT_RUN
    passed = failed = 0
    for i in range(options.runs):
        gasell, peer, shown = program(random.Random(f"{options.seed} {i}"))
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("stencils.gsl", gasell), ("stencils.py", peer)):
                (Path(folder) / name).write_text(text, encoding="utf-8")
            want, peer_stopped = answers([options.peer, "-W", "ignore", f"{folder}/stencils.py"], {})
            got = [answers([options.gasell, f"{folder}/stencils.gsl"], settings) for settings in CONFIGURATIONS]
        for settings, (found, stopped) in zip(CONFIGURATIONS, got):
            for text in {stopped, peer_stopped} - {""}:
                failed += 1
                print(f"stopped under {settings}: {text}")
            for number, text in enumerate(shown):
                if str(number) in want and found.get(str(number)) == want[str(number)]:
                    passed += 1
                    continue
                failed += 1
                print(f"\nFAILED under {settings}\n{text}\n  numpy:  {want.get(str(number))}\n  gasell: {found.get(str(number))}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
