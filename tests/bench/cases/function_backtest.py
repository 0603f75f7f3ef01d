from harness.case import Case
import numpy as np

PROGRAM = """
@njit
def backtest(price, fast, slow, fee):
    n = price.size
    cash = 1000.0
    units = 0.0
    peak = 1000.0
    drawdown = 0.0
    trades = 0
    equity = np.empty(n)
    sf = 0.0
    ss = 0.0
    for t in range(n):
        sf += price[t]
        ss += price[t]
        if t >= fast:
            sf -= price[t - fast]
        if t >= slow:
            ss -= price[t - slow]
        if t >= slow:
            mf = sf / fast
            ms = ss / slow
            if mf > ms and units == 0.0:
                units = cash * (1.0 - fee) / price[t]
                cash = 0.0
                trades += 1
            elif mf < ms and units > 0.0:
                cash = units * price[t] * (1.0 - fee)
                units = 0.0
                trades += 1
        value = cash + units * price[t]
        equity[t] = value
        if value > peak:
            peak = value
        dd = (peak - value) / peak
        if dd > drawdown:
            drawdown = dd
    return equity, trades, drawdown
"""


case = Case(
    title="backtest of 1000000 prices, @njit",
    size=1_000_000,
    inputs=lambda n, rng: {"price": 100 * np.exp(np.cumsum(rng.normal(0, 0.01, n)))},
    program=PROGRAM,
    expression="backtest(price, 20, 50, 0.001)[0]",
    bytes_read=0,
    bytes_written=0,
    numba="expression",
    jax=None,
)
