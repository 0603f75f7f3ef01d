"""The programs of docs/python.md run, one after the other, and comments that are results are right. Needs NumPy and dask."""

import re
import unittest
from pathlib import Path

import gasell

try:
    import dask.array
    import dask.dataframe
    import numpy
    import pandas
except ImportError:
    numpy = None

PAGE = Path(__file__).resolve().parents[2] / "docs/python.md"


@unittest.skipIf(numpy is None, "NumPy, pandas and dask are not installed")
class Page(unittest.TestCase):
    def test_programs(self):
        names = {"numbers": numpy.arange(16.0).reshape(4, 4), "distance_to_mean": gasell.function("def f(x): return abs(x - x.mean())"),
                 "dask_frame": dask.dataframe.from_pandas(pandas.DataFrame({"v": [1.0, -1.0]}), npartitions=1)}
        blocks = list(re.finditer(r"```py\n(.*?)```", PAGE.read_text(), re.S))
        self.assertGreater(len(blocks), 2)
        for block in blocks:
            if "cupy" in block[1]:  # it wants a GPU: tests/gpu/exchange.py
                continue
            text = block[1].replace("(1000, 1000)", "(2, 2)")
            if "@gasell.jit" in text:  # a source that inspect finds
                import linecache

                name = f"<page {block.start()}>"
                linecache.cache[name] = (len(text), None, text.splitlines(True), name)
                exec(compile(text, name, "exec"), names)
            else:
                exec(text, names)
        mean = names["session"].evaluate("(x ** 2).mean()", x=numpy.arange(1e6))
        self.assertIn(f"# {mean}:", PAGE.read_text())


if __name__ == "__main__":
    unittest.main()
