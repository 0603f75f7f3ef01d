from harness.case import Case
import numpy as np

PROGRAM = """
@njit
def bfs(grid, start, goal):
    h, w = grid.shape
    seen = {start}
    frontier = [start]
    steps = 0
    while len(frontier) > 0:
        following = [(0, 0)]
        following.pop()
        for p in frontier:
            if p == goal:
                return steps
            r, c = p
            for d in range(4):
                nr = r + (1 if d == 0 else -1 if d == 1 else 0)
                nc = c + (1 if d == 2 else -1 if d == 3 else 0)
                if 0 <= nr and nr < h and 0 <= nc and nc < w and grid[nr, nc] == 0:
                    q = (nr, nc)
                    if q not in seen:
                        seen.add(q)
                        following.append(q)
        frontier = following
        steps += 1
    return -1
"""


def maze(n, rng):
    grid = (rng.random((n, n)) < 0.25).astype(np.int64)
    grid[0, 0] = grid[-1, -1] = 0
    return {"grid": grid}


case = Case(
    title="breadth-first search, a set of tuples, @njit",
    size=300,
    inputs=maze,
    program=PROGRAM,
    expression="bfs(grid, (0, 0), (SIZE - 1, SIZE - 1))",
    bytes_read=0,
    bytes_written=0,
    scalar=True,
    numba="expression",
    jax=None,
)
