from harness.case import Case
import numpy as np

PROGRAM = """
@njit
def equalise(img):
    h, w = img.shape
    hist = np.zeros(256, dtype=np.int64)
    for i in range(h):
        for j in range(w):
            hist[img[i, j]] += 1
    cdf = np.cumsum(hist)
    lo = 0
    for k in range(256):
        if cdf[k] > 0:
            lo = cdf[k]
            break
    n = h * w
    lut = np.empty(256, dtype=np.uint8)
    for k in range(256):
        lut[k] = np.uint8(max(0, round((cdf[k] - lo) / (n - lo) * 255)))
    out = np.empty_like(img)
    for i in range(h):
        for j in range(w):
            out[i, j] = lut[img[i, j]]
    return out
"""


case = Case(
    title="histogram equalisation of 1000x1000 bytes, @njit",
    size=1_000,
    inputs=lambda n, rng: {"image": rng.normal(120, 30, (n, n)).clip(0, 255).astype(np.uint8)},
    program=PROGRAM,
    expression="equalise(image)",
    bytes_read=0,
    bytes_written=0,
    numba="expression",
    jax=None,
)
