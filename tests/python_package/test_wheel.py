"""The wheel in environments of their own: installed by pip without an index, it runs without NumPy; two of one build are the same bytes.

    test_wheel.py BUILD_FOLDER"""

import os
import subprocess
import sys
import tempfile
import unittest
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(sys.argv.pop() if len(sys.argv) > 1 and not sys.argv[-1].startswith("-") else ROOT / "build/dev")

PROGRAM = """
import importlib.util, gasell, pickle
assert importlib.util.find_spec("numpy") is None, "the environment is not clean"
session = gasell.Session()
assert session.evaluate("a + [x.sum() for x in (np.arange(4), np.ones(2))]", a=[1]) == [1, 6, 2.0]
array = session.evaluate("np.arange(6.0).reshape(2, 3)")
assert memoryview(array).tolist() == [[0, 1, 2], [3, 4, 5]] and array.dtype == "float64" and array.shape == (2, 3)
assert (array * 2)[1].tolist() == [6, 8, 10]
assert pickle.loads(pickle.dumps(array)).tolist() == array.tolist()
import array as arrays
mine = arrays.array("d", [1, 2, 3])
total = gasell.function("@njit\\ndef total(a):\\n    t = 0.0\\n    for x in a:\\n        t += x\\n    return t")
assert total(mine) == 6.0
assert gasell.asarray(mine).sum().item() == 6.0
import gasell.array_api as xp
assert xp.sum(xp.asarray([1, 2])).item() == 3 and str(xp.float64) == "float64"
print("works", gasell.__version__)
"""


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.wheel = cls.make("first")

    @classmethod
    def make(cls, name):
        out = Path(cls.folder.name) / name
        subprocess.run([sys.executable, ROOT / "tools/python/wheel.py", "--build", BUILD, "--out", out, "--level", "1"], check=True,
                       stdout=subprocess.DEVNULL)
        return next(out.glob("*.whl"))

    def test_two_are_the_same(self):
        self.assertEqual(self.wheel.read_bytes(), self.make("second").read_bytes())

    def test_it_installs_and_runs(self):
        home = Path(self.folder.name) / "environment"
        try:
            venv.create(home, with_pip=True)
        except subprocess.CalledProcessError:
            self.skipTest("this Python makes no environment with pip")
        python = home / "bin/python"
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GASELL"))}
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", self.wheel], check=True, env=clean)
        told = subprocess.run([python, "-c", PROGRAM], capture_output=True, text=True, env=clean, cwd=self.folder.name, timeout=120)
        self.assertEqual(told.stderr, "")
        self.assertTrue(told.stdout.startswith("works "))
        doctor = subprocess.run([python, "-m", "gasell", "doctor"], capture_output=True, text=True, env=clean, cwd=self.folder.name, timeout=120)
        self.assertEqual((doctor.returncode, doctor.stderr), (0, ""))
        self.assertIn("numpy", doctor.stdout)


if __name__ == "__main__":
    unittest.main()
