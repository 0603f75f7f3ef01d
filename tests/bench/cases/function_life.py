from harness.case import Case
import numpy as np

PROGRAM = """
@njit
def step(board):
    h, w = board.shape
    new = np.zeros_like(board)
    for i in range(h):
        for j in range(w):
            n = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    if di != 0 or dj != 0:
                        n += board[(i + di) % h, (j + dj) % w]
            if board[i, j] == 1 and (n == 2 or n == 3):
                new[i, j] = 1
            elif board[i, j] == 0 and n == 3:
                new[i, j] = 1
    return new
@njit
def life(board, steps):
    for s in range(steps):
        board = step(board)
    return board
"""


case = Case(
    title="game of life, 256x256, 5 steps, @njit",
    size=256,
    inputs=lambda n, rng: {"board": (rng.random((n, n)) < 0.3).astype(np.int64)},
    program=PROGRAM,
    expression="life(board, 5)",
    bytes_read=0,
    bytes_written=0,
    numba="expression",
    jax=None,
)
