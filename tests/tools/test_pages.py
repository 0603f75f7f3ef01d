"""What the pages of docs/ show is what runs; the site is whole; the screens are the session's."""

import subprocess
import sys
import unittest
from pathlib import Path

import pages
from support import GASELL, CommandTest

PYTHON = pages.ROOT / ".venv-docs" / "bin" / "python"


class Pages(CommandTest):
    def test_blocks(self):
        for name in pages.PAGES:
            with self.subTest(name):
                self.assertEqual(pages.PageRun(GASELL, pages.DOCS / f"{name}.md").run(), [])

    def test_recipes(self):
        text = (pages.DOCS / "cookbook.md").read_text(encoding="utf-8")
        self.assertEqual([n for n in range(1, 31) if f"\n### {n}. " not in text], [])

    def test_screens(self):
        done = subprocess.run([sys.executable, str(Path(__file__).parent / "screens.py"), "--gasell", GASELL, "--check"], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    @unittest.skipUnless(PYTHON.exists(), "the site is built with .venv-docs: PEERS=docs scripts/python_env.sh")
    def test_site(self):
        builder = pages.ROOT / "docs" / "site" / "build.py"
        done = subprocess.run([PYTHON, builder, "--gasell", GASELL, "--out", self.folder], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for page in ("index", "tour", "cookbook", "api/numpy", "api/DataFrame"):
            self.assertIn("<article>", (Path(self.folder) / f"{page}.html").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
