"""gasell fmt: its style, that nothing changes twice, and that every program of this repository keeps its tree."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import GASELL, CommandTest, run

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["stdlib", "examples", "compiler", "tests/language"]


def fmt(text, *options):
    done = run("fmt", *options, "-", stdin=text)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Repository(unittest.TestCase):
    def test_fixed_point_over_every_program(self):
        """A copy of all texts formats without a refusal (the command compares the trees itself), and a second time nothing changes."""
        with tempfile.TemporaryDirectory() as folder:
            for name in FOLDERS:
                for path in (ROOT / name).rglob("*.gsl"):
                    to = Path(folder) / path.relative_to(ROOT)
                    to.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, to)
            refused = []
            first = subprocess.run([GASELL, "fmt", folder], capture_output=True, text=True)
            for line in first.stderr.splitlines():
                if "would change the program" in line:
                    refused.append(line)
            self.assertEqual(refused, [])
            second = subprocess.run([GASELL, "fmt", "--check", folder], capture_output=True, text=True)
            changed = [line for line in second.stderr.splitlines() if line.endswith("would change")]
            self.assertEqual(changed, [])


class Style(CommandTest):
    def check_style(self, before, after):
        self.assertEqual(fmt(before), after)
        self.assertEqual(fmt(after), after)

    def test_blanks_and_quotes(self):
        self.check_style("x=f( a,b = 1 ) ;y = x [1:2]+ -3\n", "x = f(a, b=1)\ny = x[1:2] + -3\n")
        self.check_style("a = 'it' + 'a \"b\"' + u'x' + R'\\d' + F'{a}'\n", "a = \"it\" + 'a \"b\"' + \"x\" + r\"\\d\" + f\"{a}\"\n")
        self.check_style("s = x[a+1 :b], x[:, -1], x[..., i:], d[f(x):]\n", "s = x[a + 1 : b], x[:, -1], x[..., i:], d[f(x) :]\n")
        self.check_style("p = x**2 + f(x) **2 - -y** -k\n", "p = x**2 + f(x) ** 2 - -y**-k\n")
        self.check_style("f = lambda *a,k = 1 : a\ng = {1 :2, ** d}\n", "f = lambda *a, k=1: a\ng = {1: 2, **d}\n")
        self.check_style("n = 1E5 + 0XFf + 2J\n", "n = 1e5 + 0XFf + 2j\n")
        self.check_style("def f(a:int=1, *, b = 2)->int :\n  return(a)\n", "def f(a: int = 1, *, b=2) -> int:\n    return (a)\n")

    def test_one_statement_a_line(self):
        self.check_style("if x: y; z\nelse: pass\n", "if x:\n    y\n    z\nelse:\n    pass\n")

    def test_long_lines(self):
        name = "name_of_something_long"
        self.check_style(
            f"r = function({', '.join([name] * 6)})\n", "r = function(\n" + f"    {name},\n" * 6 + ")\n"
        )
        self.check_style(f"r = {' + '.join([name] * 6)}\n", f"r = (\n    {name}\n" + f"    + {name}\n" * 5 + ")\n")
        some = f"{name}, {', '.join('abcdefgh')}, {name}, {name}{'x' * 20}"
        self.check_style(f"result = function({some})\n", f"result = function(\n    {some}\n)\n")
        numbers = ", ".join(str(k * 1.5) for k in range(40))
        lines = fmt(f"t = [{numbers}]\n").splitlines()
        self.assertTrue(3 < len(lines) < 10 and max(map(len, lines)) <= 120, lines)

    def test_last_comma_asks_for_lines(self):
        self.check_style("f(a, b,)\n", "f(\n    a,\n    b,\n)\n")
        self.check_style("t = (a,)\nu = x[a,]\n", "t = (a,)\nu = x[a,]\n")

    def test_comments_stay(self):
        self.check_style("#a\nx=[1, # one\n  # two\n  2]#all\n", "# a\nx = [\n    1,  # one\n    # two\n    2,\n]  # all\n")
        self.check_style("y = (a + # first\n     b)\n", "y = (a + # first\n     b)\n")
        self.check_style("class A:\n    def f(self): pass\n    # b\n    def g(self): pass\n",
                         "class A:\n    def f(self):\n        pass\n\n    # b\n    def g(self):\n        pass\n")
        self.check_style("if x:\n    y\n    # in\n# out\nz\n", "if x:\n    y\n    # in\n# out\nz\n")

    def test_fmt_off(self):
        text = "# fmt: off\nm = [1,0,\n     0,1]\n# fmt: on\nx = 1\nk = [1,2]  # fmt: skip\n"
        self.check_style(text, text)

    def test_empty_lines(self):
        self.check_style(
            "import a\nx=1\ndef f():\n\n    y=1\n\n\n\n    def g(): pass\n    return y\n# about h\n@d\ndef h(): pass\nz\n",
            "import a\n\nx = 1\n\n\ndef f():\n    y = 1\n\n    def g():\n        pass\n\n    return y\n\n\n# about h\n@d\ndef h():\n    pass\n\n\nz\n",
        )

    def test_line_length(self):
        self.assertEqual(fmt("f(aaaaaa, bbbbbb)\n", "--line-length", "12"), "f(\n    aaaaaa,\n    bbbbbb,\n)\n")

    def test_match(self):
        self.check_style("match(x):\n  case[a,*b]:\n    pass\n  case -1|2:\n    pass\n", "match (x):\n    case [a, *b]:\n        pass\n    case -1 | 2:\n        pass\n")


class Command(CommandTest):
    def test_writes_checks_and_shows(self):
        path = self.script("x=1\n")
        done = run("fmt", "--check", path)
        self.assertEqual((done.returncode, done.stderr), (1, f"{path} would change\n"))
        done = run("fmt", "--diff", path)
        self.assertEqual((done.returncode, done.stdout), (1, f"--- {path}\n+++ {path}\n@@ -1,1 +1,1 @@\n-x=1\n+x = 1\n"))
        self.assertEqual(run("fmt", path).returncode, 0)
        self.assertEqual(Path(path).read_text(), "x = 1\n")
        self.assertEqual(run("fmt", "--check", path).returncode, 0)

    def test_errors(self):
        path = self.script("x = = 1\n")
        done = run("fmt", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("SyntaxError: invalid syntax", done.stderr)
        self.assertEqual(Path(path).read_text(), "x = = 1\n")
        self.assertEqual(run("fmt", path + ".none").returncode, 2)
        self.assertEqual(run("fmt", "--line-length", "x", path).returncode, 2)


if __name__ == "__main__":
    unittest.main()
