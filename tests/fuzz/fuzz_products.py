#!/usr/bin/env python3
"""Random products, contractions and decompositions under Gasell and under NumPy: shapes, axes, subscripts, dtypes, views, stacks.

  tests/fuzz/fuzz_products.py [--gasell build/dev/bin/gasell] [--peer PYTHON] [--count 500] [--seed 0] [--device sim:1]

Both run the same script, which prints for each its dtype, shape and numbers, or the error's name. Integers must be equal; floats may differ by rounding: 1e-12
(float32: 1e-4) of the largest. Of what is decomposed the script prints what is unique: products of the factors, values, absolute values. Exit status 1 where something else
differs, 77 without a peer.
"""

from numbers_beside_numpy import compare

LETTERS = "ijklm"
EXTENTS = [0, 1, 2, 3, 4, 5, 7, 8, 16, 17, 33]
LONG = [64, 100, 129, 300]
DTYPES = ["float64"] * 4 + ["float32", "complex128", "complex64", "int64", "int32", "uint8", "bool"]
FLOATS = ["float64", "float64", "float32", "complex128"]


def array(draw, shape, dtype=None):
    dtype = dtype or draw.choice(DTYPES)
    x = f"numbers({tuple(shape)}, {dtype!r}, {draw.randrange(5)})"
    view = draw.random()
    if shape and view < 0.15:
        order = list(range(len(shape)))
        draw.shuffle(order)
        x = f"np.transpose(numbers({tuple(shape[k] for k in order)}, {dtype!r}, 1), {tuple(order.index(k) for k in range(len(shape)))})"
    elif shape and view < 0.3:
        x += "[" + ", ".join(draw.choice([":", "::-1"]) for _ in shape) + "]"
    elif shape and view < 0.35:
        x = f"np.broadcast_to({x}[:1], {tuple(shape)})" if shape[0] else x
    return x


def extent(draw):
    return draw.choice(LONG) if draw.random() < 0.06 else draw.choice(EXTENTS)


def stacks(draw):
    """Two shapes in front of matrices that broadcast; seldom they do not."""
    rank = draw.choice([0, 0, 1, 1, 2])
    whole = [draw.choice([1, 2, 3, 5]) for _ in range(rank)]
    left = [n if draw.random() < 0.8 else 1 for n in whole]
    right = [n if draw.random() < 0.8 else 1 for n in whole][draw.choice([0, 0, rank]) :]
    return left, right


def product(draw):
    name = draw.choice(["matmul", "matmul", "dot", "inner", "outer", "vdot", "kron", "tensordot", "multi_dot", "cross", "vecdot"])
    m, n, k = extent(draw), extent(draw), extent(draw)
    wrong = k + 1 if draw.random() < 0.03 else k
    if name == "matmul":
        left, right = stacks(draw)
        a, b = left + [m, k], right + [wrong, n]
        if draw.random() < 0.15:
            a = [k]
        if draw.random() < 0.15:
            b = [wrong]
        return f"np.matmul({array(draw, a)}, {array(draw, b)})" if draw.random() < 0.5 else f"{array(draw, a)} @ {array(draw, b)}"
    if name == "dot":
        a = draw.choice([[k], [m, k], [2, m, k]])
        b = draw.choice([[wrong], [wrong, n], [2, wrong, n]])
        return f"np.dot({array(draw, a)}, {array(draw, b)})"
    if name == "inner":
        return f"np.inner({array(draw, draw.choice([[k], [m, k]]))}, {array(draw, draw.choice([[wrong], [n, wrong]]))})"
    if name == "outer":
        return f"np.outer({array(draw, [min(m, 40)])}, {array(draw, [min(n, 40)])})"
    if name == "vdot":
        return f"np.vdot({array(draw, [k, 2])}, {array(draw, [wrong, 2])})"
    if name == "kron":
        return f"np.kron({array(draw, [draw.choice(EXTENTS[:6]) for _ in range(draw.choice([1, 2]))])}, {array(draw, [draw.choice(EXTENTS[:6]) for _ in range(draw.choice([1, 2]))])})"
    if name == "tensordot":
        shared = [draw.choice(EXTENTS[:8]) for _ in range(draw.choice([0, 1, 1, 2]))]
        left, right = shared + [draw.choice(EXTENTS[:6])], [draw.choice(EXTENTS[:6])] + shared
        a_order, b_order = list(range(len(left))), list(range(len(right)))
        draw.shuffle(a_order)
        draw.shuffle(b_order)
        axes = ([a_order.index(k) for k in range(len(shared))], [b_order.index(1 + k) for k in range(len(shared))])
        return f"np.tensordot({array(draw, [left[k] for k in a_order])}, {array(draw, [right[k] for k in b_order])}, axes={axes})"
    if name == "multi_dot":
        chain = [draw.choice(EXTENTS[1:9]) for _ in range(draw.choice([3, 4, 5]))]
        dtype = draw.choice(["float64", "float32", "complex128"])  # of several NumPy rounds what lies between to the narrower one
        return "np.linalg.multi_dot([" + ", ".join(array(draw, pair, dtype) for pair in zip(chain, chain[1:])) + "])"
    if name == "cross":
        return f"np.cross({array(draw, [4, 3], 'float64')}, {array(draw, draw.choice([[3], [4, 3]]), 'float64')})"
    return f"np.linalg.vecdot({array(draw, [m, k])}, {array(draw, draw.choice([[k], [m, k]]))})"


def contraction(draw):
    count = draw.choice([1, 2, 2, 2, 3])
    extents = {letter: draw.choice([1, 2, 3, 4, 5, 7]) for letter in LETTERS}
    terms = ["".join(draw.choice(LETTERS) for _ in range(draw.choice([1, 2, 2, 3]))) for _ in range(count)]
    dots = draw.random() < 0.25
    before = [draw.choice([1, 2, 3]) for _ in range(draw.choice([0, 1, 1, 2]))]  # what an ellipsis stands for
    optimize = draw.choice(["", "", ", optimize=True", ", optimize='greedy'"])
    dtype = draw.choice(DTYPES) if optimize else None  # of several NumPy sums some in the narrower one: truth values by "or"
    arrays, texts = [], []
    for term in terms:
        shape = [extents[letter] for letter in term]
        if dots and draw.random() < 0.85:  # of an ellipsis in front, in the middle or behind; its axes may be fewer, or 1
            at = draw.randrange(len(term) + 1)
            some = [n if draw.random() < 0.8 else 1 for n in before][draw.choice([0, 0, len(before)]) :]
            term, shape = term[:at] + "..." + term[at:], shape[:at] + some + shape[at:]
        texts.append(term)
        arrays.append(array(draw, shape, dtype))
    text = ",".join(texts)
    if draw.random() < 0.8:
        letters = sorted(set("".join(terms)))
        draw.shuffle(letters)
        result = "".join(letters[: draw.randrange(len(letters) + 1)])
        at = draw.randrange(len(result) + 1)
        text += "->" + (result[:at] + "..." + result[at:] if dots and draw.random() < 0.95 else result)
    return f"np.einsum({text!r}, {', '.join(arrays)}{optimize})"


def decomposition(draw):
    stack = [draw.choice([1, 2, 3])] if draw.random() < 0.3 else []
    n, m = draw.choice(EXTENTS[1:]), draw.choice(EXTENTS[1:])
    dtype = draw.choice(FLOATS)
    square, tall = f"numbers({tuple(stack + [n, n])}, {dtype!r}, 2) + {n + 3} * np.eye({n}, dtype={dtype!r})", array(draw, stack + [m, n], dtype)
    right = array(draw, stack + [n, draw.choice([1, 2, 5])], dtype)
    symmetric = f"(lambda a: a + np.conj(np.swapaxes(a, -1, -2)))({square})"
    return draw.choice(
        [
            f"np.linalg.solve({square}, {right})",
            f"np.linalg.solve({square}, {array(draw, [n], dtype)})",
            f"np.linalg.solve({square}, {array(draw, draw.choice([[n, 2], [2, n, 1], [n]]), dtype)})",
            f"np.linalg.lstsq({array(draw, [m, n], dtype)} + np.eye({m}, {n}) * {n + m}, {array(draw, draw.choice([[m], [m, 2]]), dtype)})[{draw.choice([0, 0, 0, 2, 3])}]",
            f"np.linalg.pinv({tall} + np.eye({m}, {n}) * {n + m})",
            f"np.linalg.tensorsolve(np.reshape({square}, {tuple(stack + [n, n])})[{'0' if stack else '...'}], {array(draw, [n], dtype)})",
            f"np.linalg.tensorinv(np.reshape(({square}){'[0]' if stack else ''}, ({n}, {n}, 1)), ind=1)",
            f"np.linalg.cholesky({symmetric}, upper=True)",
            f"np.linalg.cond({square}, {draw.choice(['None', '1', 'np.inf', '-2', repr('fro')])})",
            f"np.sort(np.linalg.eigvals({symmetric}).real, axis=-1)",
            f"np.linalg.svdvals({tall})",
            f"(lambda r: r[0] @ r[1])(np.linalg.qr({tall}, 'complete'))",
            f"np.linalg.inv({square})",
            f"np.linalg.det({square})",
            f"np.stack(np.linalg.slogdet({square}))",
            f"np.linalg.cholesky({symmetric})",
            f"np.linalg.eigvalsh({symmetric})",
            f"(lambda r: (r[1] * r[0][..., None, :]) @ np.conj(np.swapaxes(r[1], -1, -2)))(np.linalg.eigh({symmetric}))",
            f"np.linalg.svd({tall}, compute_uv=False)",
            f"(lambda r: (r[0] * r[1][..., None, :]) @ r[2])(np.linalg.svd({tall}, full_matrices=False))",
            f"(lambda r: r[0] @ r[1])(np.linalg.qr({tall}))",
            f"np.abs(np.linalg.qr({tall}, mode='r'))",
            f"np.linalg.matrix_power({square}, {draw.choice([0, 1, 2, 3])})",
            f"np.linalg.norm({tall}, {draw.choice(['None', repr('fro'), '1', '-1', 'np.inf', '2'])}, axis=(-2, -1))",
            f"np.trace({square}, axis1=-2, axis2=-1)",
            f"np.linalg.matrix_rank({tall})",
        ]
    )


def one(draw):
    kind = draw.random()
    return product(draw) if kind < 0.45 else contraction(draw) if kind < 0.75 else decomposition(draw)


if __name__ == "__main__":
    compare(__doc__, one, "products", {"float32": 1e-4, "complex64": 1e-4, "float64": 1e-12, "complex128": 1e-12})
