"""Random selections of arrays' elements, read and written, for fuzz_numpy.py --selections: whole numbers, slices, ellipses, new axes, arrays and lists of
places and of truth values, mixed as one likes. Some are wrong. Thousands are one script, whose answers are lists of small whole numbers.
"""

import math
import random

SELECTIONS_A_RUN = 2500
ARRAYS = {"a": (), "b": (1,), "c": (7,), "d": (3, 4), "e": (2, 3, 4), "f": (3, 1, 2, 2), "g": (0, 3), "h": (5, 6), "i": (4, 0), "j": (2, 2, 2, 2)}
# Views that some selections are of, by the rank that they need.
VIEWS = {1: ["[::-1]", "[1:]", ".T"], 2: [".T", "[:, ::-1]", "[::2]"], 3: [".transpose(2, 0, 1)", "[:, ::2]", ".reshape(-1, 2)"], 4: [".swapaxes(0, 3)", "[..., ::-1]"]}
VALUES = ["-7", "2.5", "True", "r * 3 + 1", "r[::-1]", "r[..., :1]", "r.astype(np.float32)", "[1, 2]", "np.arange(r.size)[::-1].reshape(r.shape)", "r[:0]", "np.array([5])", "r[None] - 100"]

HEAD = "".join(f"{name} = np.arange({math.prod(shape)}).reshape({shape})\n" for name, shape in ARRAYS.items()) + '''
def listed(x):
    return (x.dtype.kind, x.shape, x.tolist()) if isinstance(x, (np.ndarray, np.generic)) else x
def tried(f):
    try:
        return listed(f())
    except Exception as e:
        return type(e).__name__
def written(x, index, value, how):
    y = x.copy()
    r = y[index]
    v = value(r)
    if how == "=":
        y[index] = v
    elif how == "+=":
        y[index] += v
    else:
        np.add.at(y, index, v)
    return y
'''


def place(rng, extent):
    """A place along an axis, seldom one that is not there."""
    return rng.randrange(-extent, extent) if extent and rng.random() < 0.99 else rng.choice([0, extent, -extent - 1])


def places(rng, extent, shape):
    values = [str(place(rng, extent)) for _ in range(math.prod(shape))]
    if len(shape) == 1 and rng.random() < 0.3:
        return f"[{', '.join(values)}]"
    dtype = rng.choice(["int64", "int64", "int32", "int8"])
    return f"np.array([{', '.join(values)}], np.{dtype}).reshape({shape})"


def truths(rng, shape):
    values = [rng.choice(["True", "False"]) for _ in range(math.prod(shape))]
    if len(shape) == 1 and rng.random() < 0.3:
        return f"[{', '.join(values)}]" if values else "[]"
    return f"np.array([{', '.join(values)}], bool).reshape({shape})"


def slice_text(rng, extent):
    end = lambda: rng.choice(["", "", str(rng.randrange(-extent - 1, extent + 2))])
    return f"{end()}:{end()}" + rng.choice(["", "", "", ":2", ":-1", ":-2", ":3"])


def item(rng, shape, axis, common):
    """(text, axes that it covers)"""
    extent, kind = shape[axis], rng.random()
    if kind < 0.3:
        return slice_text(rng, extent), 1
    if kind < 0.45:
        return rng.choice(["{}", "{}", "np.int64({})", "np.array({})"]).format(place(rng, extent)), 1
    if kind < 0.75:
        return places(rng, extent, rng.choice([common, common, common, common[-1:], (1,)])), 1
    covered = rng.choice([1, 1, 2])
    if axis + covered > len(shape):
        covered = 1
    wanted = shape[axis : axis + covered]
    if rng.random() < 0.01:
        wanted = (wanted[0] + 1,) + tuple(wanted[1:])
    return truths(rng, tuple(wanted)), covered


def index(rng, shape):
    common = rng.choice([(2,), (3,), (1,), (2, 2), (0,), (2, 1, 3)])
    if rng.random() < 0.08:
        return truths(rng, shape) if shape else rng.choice(["True", "False", "()", "..."])
    items, axis = [], 0
    while axis < len(shape) and rng.random() < 0.85:
        if rng.random() < 0.08:
            items.append("None")
        text, covered = item(rng, shape, axis, common)
        items.append(text)
        axis += covered
    if rng.random() < 0.2 and 0 not in shape:  # where nothing is chosen NumPy does not look at what the masks' extents are
        items.insert(rng.randrange(len(items) + 1), "...")
    if rng.random() < 0.05:
        items.append("None")
    if rng.random() < 0.01:
        items.append(rng.choice(["0", "1.5", "'x'", ":", "True"]))
    if rng.random() < 0.01 and items:
        items[rng.randrange(len(items))] = rng.choice(["...", "1.0", "True", "[[0, 1], [1, 0]]"])
    return ", ".join(items) + ("," if len(items) == 1 and rng.random() < 0.2 else "") or "..."


def selection(rng):
    name = rng.choice(list(ARRAYS))
    shape, of = ARRAYS[name], name
    if len(shape) in VIEWS and rng.random() < 0.2 and 0 not in shape:
        of = name + rng.choice(VIEWS[len(shape)])
        if of.endswith((".T", ".transpose(2, 0, 1)", ".swapaxes(0, 3)")):
            order = {"T": range(len(shape))[::-1], ")": (2, 0, 1) if len(shape) == 3 else (3, 1, 2, 0)}[of[-1]]
            shape = tuple(shape[k] for k in order)
        elif of.endswith("2)"):
            shape = (math.prod(shape) // 2, 2)
    text = index(rng, shape)
    if rng.random() < 0.55:
        return f"tried(lambda: {of}[{text}])"
    how = rng.choice(["=", "=", "=", "+=", "at"])
    value = rng.choice(VALUES[:-1] if how == "at" else VALUES)  # np.ufunc.at has words of its own for too many axes
    if how == "at" and value == "[1, 2]" and "reshape((2, 2))" in text:
        value = "-7"  # NumPy 2.4 reads behind a vector of values that places of two axes share
    return f"tried(lambda: written({of}, np.s_[{text}], lambda r: {value}, '{how}'))"


def scripts(options):
    for k in range((options.selections + SELECTIONS_A_RUN - 1) // SELECTIONS_A_RUN):
        rng = random.Random(f"selections {options.seed} {k}")
        yield [selection(rng) for _ in range(SELECTIONS_A_RUN)]
