"""How the partial results of a reduction come together: in the engine's groups and order, so that the bits are those of one process."""

from __future__ import annotations

import numpy

# The engine's reductions (compiler/plan/reduction_lowering.h): a sum's groups of elements, those of rows where columns are summed, and how many
# partial sums of groups, and of these, come together in a step.
GROUP, ROW_GROUP, STEP = 65536, 1024, 64


def in_tree(states, merge):
    """States of groups, in order along the first axis, brought together in the engine's order."""
    with numpy.errstate(all="ignore"):
        while len(states) > 1:
            merged = []
            for first in range(0, len(states), STEP):
                group = states[first:first + STEP].copy()
                width = STEP // 2
                while width:
                    count = min(width, max(len(group) - width, 0))
                    group[:count] = merge(group[:count], group[width:width + count])
                    width //= 2
                merged.append(group[0])
            states = numpy.stack(merged)
    return states[0]


def merge_variances(a, b):
    """Reducer::merge of compiler/plan/reducer.cpp: counts, shifts, offsets, spreads along the second axis."""
    count = a[:, 0] + b[:, 0]
    share = b[:, 0] / count
    delta = (b[:, 1] - a[:, 1]) + (b[:, 2] - a[:, 2])
    spread = delta * (delta * (a[:, 0] * share))
    return numpy.stack([count, a[:, 1], a[:, 2] + delta * share, (a[:, 3] + b[:, 3]) + spread], axis=1)
