from harness.case import Case
import numpy as np

PROGRAM = """
@njit
def lorenz(y, sigma, rho, beta):
    return np.array([sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]])
@njit
def rk4(y0, dt, steps):
    y = y0.copy()
    path = np.empty((steps, 3))
    for s in range(steps):
        k1 = lorenz(y, 10.0, 28.0, 8.0 / 3.0)
        k2 = lorenz(y + 0.5 * dt * k1, 10.0, 28.0, 8.0 / 3.0)
        k3 = lorenz(y + 0.5 * dt * k2, 10.0, 28.0, 8.0 / 3.0)
        k4 = lorenz(y + dt * k3, 10.0, 28.0, 8.0 / 3.0)
        y = y + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        path[s] = y
    return path
"""


case = Case(
    title="RK4 of three equations, 20000 steps, @njit",
    size=20_000,
    inputs=lambda n, rng: {"y": np.ones(3)},
    program=PROGRAM,
    expression="rk4(y, 0.001, SIZE)",
    bytes_read=0,
    bytes_written=0,
    tolerance=1e-6,
    numba="expression",
    jax=None,
)
