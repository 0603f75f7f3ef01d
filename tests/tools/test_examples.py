"""Every example prints what its last comment says; the README's example too."""

import glob
import os
import re
import unittest

from support import CommandTest, run

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
TAKES_A_MINUTE = {"two_terabytes.gsl"}  # the main job has a command of its own: scripts/main_job.sh


def expected_output(text):
    comment = text.rsplit("\n# Prints:\n", 1)[1]
    return "".join(re.sub(r"^# ?", "", line) + "\n" for line in comment.splitlines())


class Examples(CommandTest):
    def test_examples(self):
        paths = sorted(p for p in glob.glob(os.path.join(ROOT, "examples", "*.gsl")) if os.path.basename(p) not in TAKES_A_MINUTE)
        self.assertGreater(len(paths), 5)
        for path in paths:
            with self.subTest(os.path.basename(path)), open(path, encoding="utf-8") as file:
                here = os.getcwd()
                os.chdir(self.folder)  # for the files that examples write
                try:
                    self.check(run(path), out=expected_output(file.read()))
                finally:
                    os.chdir(here)

    def test_readme(self):
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            blocks = re.findall(r"```(\w*)\n(.*?)```", file.read(), re.S)
        programs = [i for i, (kind, _) in enumerate(blocks) if kind == "python"]
        self.assertTrue(programs)
        for i in programs:
            self.check(run("-c", blocks[i][1]), out=blocks[i + 1][1])

    def test_command_page(self):
        """docs/command.md knows every option that --help knows, every command of the session, and shows an error as it is."""
        with open(os.path.join(ROOT, "docs", "command.md"), encoding="utf-8") as file:
            page = file.read()
        for option in re.findall(r"--[a-z][a-z-]*", run("--help").stdout):
            self.assertIn(f"`{option}", page)
        for variable in re.findall(r"GASELL_[A-Z]+", run("--help").stdout):
            self.assertIn(variable, page)
        shown = re.search(r"## Errors\n```text\n(.*?)```", page, re.S).group(1)
        result = run(self.script("prices = np.array([1.5, 2.5])\n\ntotal = pricse.sum()\n", "prices.gsl"))
        self.assertEqual(result.stderr.replace(self.folder + "/", ""), shown)


if __name__ == "__main__":
    unittest.main(verbosity=1)
