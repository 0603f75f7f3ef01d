"""gasell check: what it finds, that it runs nothing, and that it reports no program of this repository that is right."""

import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import CommandTest, run

ROOT = Path(__file__).resolve().parents[2]


def found_in(*paths, **settings):
    done = run("check", "--json", *paths, timeout=300, **settings)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


class Repository(unittest.TestCase):
    maxDiff = None

    def test_errors_are_those_that_runs_raise(self):
        """Each case of tests/language as a script of its own, and the examples: an error may be reported only where the case or what it prints
        speaks of that exception or of that message."""
        with tempfile.TemporaryDirectory() as folder:
            texts = {}
            for path in sorted((ROOT / "tests/language").rglob("*.gsl")):
                recorded = path.with_suffix(".expected")
                answers = recorded.read_text() if recorded.exists() else ""
                for number, case in enumerate(re.split(r"(?m)^(?=# --- )", path.read_text())):
                    to = Path(folder) / path.relative_to(ROOT).with_suffix("") / f"case_{number}.gsl"
                    to.parent.mkdir(parents=True, exist_ok=True)
                    to.write_text(case)
                    texts[str(to)] = case + answers
            for path in sorted((ROOT / "examples").rglob("*.gsl")):
                texts[str(path)] = ""
            _, found = found_in(folder, ROOT / "examples")
            wrong = []
            for one in found:
                text = texts[one["file"]]
                refused = one["kind"] == "NotImplementedError"  # in the run's own words
                if one["severity"] == "error" and not refused and one["kind"] not in text and one["message"] not in text:
                    wrong.append((one["file"].removeprefix(folder), one["line"], one["kind"], one["message"]))
            self.assertEqual(wrong, [])


class Findings(CommandTest):
    def codes(self, text):
        status, found = found_in(self.script(text))
        self.assertEqual(status, int(any(one["severity"] == "error" for one in found)))
        return [(one["line"], one["code"], one["message"]) for one in found]

    def test_right(self):
        self.assertEqual(self.codes("import numpy as np\nx = np.ones(3)\nprint(x.sum(), [k for k in range(3)], __name__)\n"), [])

    def test_runs_nothing(self):
        self.check(run("check", self.script("print('no')\nopen('none', 'w')\n1 / 0\n")), out="")

    def test_all_syntax_errors(self):
        self.assertEqual([line for line, _, _ in self.codes("x = = 1\ny = 2\nif y == 2\n    z\nreturn 3\nf(\n")], [1, 3, 5, 6])
        self.assertEqual([line for line, _, _ in self.codes("a = 1 +\nb = 2\nc = b b\n")], [1, 3])
        self.assertEqual([line for line, _, _ in self.codes("a = 1\n  b = 2\n")], [2])

    def test_names(self):
        self.assertEqual(self.codes("def f():\n    return totl\ntotal = 1\n"), [(2, "name", "name 'totl' is not defined")])
        self.assertEqual(self.codes("try:\n    unknown\nexcept NameError:\n    pass\n"), [])
        self.assertEqual(self.codes("def f():\n    global g\n    g = 1\nf()\nprint(g)\n"), [])
        self.assertEqual(self.codes("globals()['whatever'] = 1\nprint(whatever)\n"), [])

    def test_modules(self):
        self.assertEqual(
            self.codes("import numpy as np\nimport math as m\nnp.zeos\nm.sqr\nnp.linalg.solv\n"),
            [
                (3, "attribute", "module 'numpy' has no attribute 'zeos'"),
                (4, "attribute", "module 'math' has no attribute 'sqr'"),
                (5, "attribute", "module 'numpy.linalg' has no attribute 'solv'"),
            ],
        )
        self.assertEqual(self.codes("import numpy as np\nnp = 3\nnp.zeos\n"), [])
        self.assertEqual(
            [(line, code) for line, code, _ in self.codes("import nothing_there\nfrom math import sqr\n") if code == "import"],
            [(1, "import"), (2, "import")],
        )
        line, code, message = self.codes("np.frompyfunc\n")[0]
        self.assertEqual((code, "not in Gasell" in message), ("attribute", True))

    def test_calls(self):
        self.assertEqual(
            [message for _, _, message in self.codes("def f(a, b=1, *, c):\n    return a, b, c\nf()\nf(1)\nf(1, 2, 3, c=1)\nf(1, a=2, c=1)\nf(1, d=2, c=3)\nf(*[1], c=2)\nf(**{})\n")],
            [
                "f() missing 1 required positional argument: 'a'",
                "f() missing 1 required keyword-only argument: 'c'",
                "f() takes from 1 to 2 positional arguments but 3 were given",
                "f() got multiple values for argument 'a'",
                "f() got an unexpected keyword argument 'd'",
            ],
        )
        self.assertEqual(
            [message for _, _, message in self.codes("class A:\n    def __init__(self, a, b=1):\n        pass\nA()\nA(1, 2, 3)\nA(1)\nclass B(A):\n    pass\nB()\n")],
            [
                "A.__init__() missing 1 required positional argument: 'a'",
                "A.__init__() takes from 2 to 3 positional arguments but 4 were given",
            ],
        )
        self.assertEqual([code for _, code, _ in self.codes("np.zeros()\nlen(1, 2)\nnp.ones(3, dtyp=int)\n")], ["call"] * 3)

    def test_warnings(self):
        self.assertEqual(
            self.codes("import os\nimport json as j\ndef f():\n    x = 1\n    a, b = 1, 2\n    return\n    print(1)\n"),
            [
                (1, "unused-import", "'os' is imported and not used"),
                (2, "unused-import", "'json' is imported and not used"),
                (4, "unused-variable", "the variable 'x' is not used"),
                (7, "unreachable", "this is never reached"),
            ],
        )

    def test_several_files(self):
        self.script("def g(x):\n    return x\n", "other.gsl")
        main = self.script("import other\nprint(other.g(1))\n", "main.gsl")
        self.assertEqual(found_in(main), (0, []))
        done = run("check", self.folder, self.script("x = = 1\n", "wrong.gsl"))
        self.check(done, code=1, out="", err=["wrong.gsl:1:5", "SyntaxError"])
        self.assertEqual(run("check", main + ".none").returncode, 2)

    def test_standard_input(self):
        self.check(run("check", "-", stdin="prnt(1)\n"), code=1, out="", err=["<stdin>:1:1", "NameError", "did you mean 'print'?"])


if __name__ == "__main__":
    unittest.main()
