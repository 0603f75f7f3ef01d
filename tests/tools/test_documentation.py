"""Every public name has a signature, a description and an example; the examples show what they say; `gasell help` and `?name` tell them."""

import collections
import json
import unittest

import documentation
from support import GASELL, CommandTest, run


class Documentation(CommandTest):
    def test_every_public_name_is_documented(self):
        found = documentation.measure(GASELL)
        self.assertEqual(list(found), [*documentation.OWNERS, "builtins"])
        missing = [f"{one['name']}: no {', no '.join(what)}" for names in found.values() for one in names if (what := documentation.lacks(one))]
        self.assertEqual(missing, [])

    def test_examples(self):
        for path in sorted(documentation.EXAMPLES.glob("*.txt")):
            with self.subTest(path.name):
                self.assertEqual(documentation.check_examples(GASELL, path), [])

    def test_no_name_has_two_examples(self):
        names = [name for path in documentation.EXAMPLES.glob("*.txt") for example in documentation.read_examples(path)[1] for name in example.names]
        self.assertEqual([name for name, count in collections.Counter(names).items() if count > 1], [])

    def test_help(self):
        shown = "roll(a, shift, axis=None)\nElements moved along an axis; what leaves at the end comes back at the beginning.\n\n>>> np.roll(np.arange(5), 2)\narray([3, 4, 0, 1, 2])\n"
        self.check(run("help", "np.roll"), out=shown)
        self.check(run("help", "numpy.roll"), out=shown)
        one = json.loads(run("help", "--json", "scipy.linalg.toeplitz").stdout)
        self.assertEqual((one["kind"], one["signature"]), ("function", "toeplitz(c, r=None)"))
        self.assertIn("block_diag", json.loads(run("help", "--json", "scipy.linalg").stdout)["members"])
        self.check(run("help", "np.rol"), code=1, out="", err="did you mean 'roll'")
        self.check(run("help"), code=2, out="", err="NAME is required")

    def test_help_of_a_script(self):
        self.script('class Pair:\n    """Two numbers."""\n    def __init__(self, a, b=2):\n        self.a, self.b = a, b\n', "pairs.gsl")
        self.check(run("help", "pairs.Pair", GASELL_PATH=self.folder), out="type Pair\nPair(a, b=2)\nTwo numbers.\n")

    def test_an_example_of_another_function_is_not_shown(self):
        self.script("def roll(x):\n    pass\n", "mine.gsl")
        self.check(run("help", "mine.roll", GASELL_PATH=self.folder), out="roll(x)\n")


if __name__ == "__main__":
    unittest.main(verbosity=1)
