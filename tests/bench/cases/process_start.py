from harness.case import Commands

case = Commands(
    title="process start to the first printed result",
    commands={
        "gasell": "print((np.arange(10)+1).sum())",
        "numpy": "import numpy as np; print((np.arange(10)+1).sum())",
        "numexpr": "import numpy as np, numexpr; print(numexpr.evaluate('sum(x + 1)', {'x': np.arange(10)}))",
        "numba": "import numpy as np, numba; print(numba.njit(lambda: (np.arange(10) + 1).sum())())",
        "jax": "import jax; print(jax.jit(lambda: (jax.numpy.arange(10) + 1).sum())())",
    },
    output="55",
)
