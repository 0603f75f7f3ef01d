"""No library of the current folder is loaded: scripts/check_loading.py on what is built and on what is installed, and that it finds what it looks for."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parents[2] / "scripts/check_loading.py"
BUILD = Path(os.environ["GASELL_BUILD"])


def check(*folders):
    return subprocess.run([sys.executable, CHECK, *folders], capture_output=True, text=True, timeout=280)


class Loading(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_built(self):
        done = check(BUILD)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreaterEqual(done.stdout.count("among"), 4, done.stdout)

    def test_installed(self):
        subprocess.run(["cmake", "--install", BUILD, "--prefix", self.folder], check=True, capture_output=True, timeout=120)
        done = check(self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("among"), 4, done.stdout)

    def test_a_program_that_looks_in_the_current_folder_is_found(self):
        (self.folder / "own.c").write_text("int own(void) { return 0; }\n", encoding="utf-8")
        (self.folder / "program.c").write_text("int own(void); int main(void) { return own(); }\n", encoding="utf-8")
        library, program = self.folder / "libown.so.1", self.folder / "gasell"
        subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-soname,libown.so.1", "-o", library, self.folder / "own.c"], check=True, timeout=60)
        subprocess.run(["cc", "-o", program, self.folder / "program.c", library, "-Wl,-rpath,::"], check=True, timeout=60)
        done = check(self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("gasell looks for libraries in the current folder", done.stdout)
        self.assertIn("among planted libraries loads one", done.stdout)


if __name__ == "__main__":
    unittest.main()
