"""Times one case under one Python peer; run as a program of its own, prints JSON: {"first": s, "best": s, "version": text}.

    python -m harness.peers CASE_FILE PEER DATA_FOLDER SECONDS SIZE"""

import importlib.util
import json
import os
import sys
import time


def load_case(path):
    spec = importlib.util.spec_from_file_location("case_" + os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.case


def function_of(names, expression, **scope):
    text = f"def evaluate({', '.join(names)}):\n    return {expression}\n"
    exec(compile(text, "<expression>", "exec"), scope)
    return scope["evaluate"]


def build(case, peer, arrays, size):
    """A callable without arguments that leaves the result computed, and the peer's version."""
    import numpy as np

    names = list(arrays)
    if case.program:
        if peer == "numba":
            import numba

        # Compiled where the peer compiles; what calls it is Python's.
        functions = {"np": np, "njit": numba.njit if peer == "numba" else lambda function: function}
        exec(compile(case.program, "<program>", "exec"), functions)
        evaluate = function_of(names, case.expression.replace("SIZE", size), **functions)
        return lambda: evaluate(*arrays.values()), numba.__version__ if peer == "numba" else np.__version__
    if peer == "numpy":
        evaluate = function_of(names, (case.numpy or case.expression).replace("SIZE", size), np=np)
        return lambda: evaluate(*arrays.values()), np.__version__
    if peer == "numexpr":
        import numexpr

        numexpr.set_num_threads(os.cpu_count())
        return lambda: numexpr.evaluate(case.numexpr, local_dict=arrays), numexpr.__version__
    if peer == "numba":
        import numba

        python = function_of(names, case.expression, np=np) if case.numba == "expression" else case.numba
        compiled = numba.njit(parallel=True)(python)
        extra = [int(size)] if not arrays else []
        return lambda: compiled(*arrays.values(), *extra), numba.__version__
    if peer == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
        text = case.expression if case.jax == "expression" else case.jax
        compiled = jax.jit(function_of(names, text.replace("SIZE", size), np=jax.numpy, jax=jax))
        on_device = [jax.device_put(array) for array in arrays.values()]
        return lambda: compiled(*on_device).block_until_ready(), jax.__version__
    raise ValueError(peer)


def main():
    case_file, peer, folder, seconds, size = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), sys.argv[5]
    import numpy as np

    case = load_case(case_file)
    files = sorted(name for name in os.listdir(folder) if name.startswith("in_"))
    arrays = {name[3:-4]: np.load(os.path.join(folder, name), mmap_mode="r" if case.mapped else None) for name in files}
    evaluate, version = build(case, peer, arrays, size)
    start = time.perf_counter()
    result = evaluate()
    first = time.perf_counter() - start
    np.save(os.path.join(folder, f"out_{peer}.npy"), np.asarray(result))
    del result
    best, began, count = 1e99, time.perf_counter(), 0
    while count < 3 or time.perf_counter() - began < seconds:
        start = time.perf_counter()
        for _ in range(case.inner):
            result = evaluate()
        best = min(best, time.perf_counter() - start)
        count += 1
        del result
    print(json.dumps({"first": first, "best": best / case.inner, "version": version}))


if __name__ == "__main__":
    main()
