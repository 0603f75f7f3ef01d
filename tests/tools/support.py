"""How the tests of the command start it."""

import os
import subprocess
import tempfile
import unittest

GASELL = os.environ["GASELL"]
# Seconds after SIGINT in which a computation must have stopped. The target is 0.1; a loaded machine gets slack.
INTERRUPT_LIMIT = float(os.environ.get("GASELL_TEST_INTERRUPT_SECONDS", "1.0"))


def environment(**changes):
    """A clean environment: none of the caller's settings, a kernel cache and a history of its own."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GASELL") and k not in ("NO_COLOR",)}
    kept.update(GASELL_HISTORY="", GASELL_INIT="", TERM="xterm", LC_ALL="C.UTF-8")
    kept.update(changes)
    return {k: v for k, v in kept.items() if v is not None}


def run(*arguments, stdin="", timeout=60, **changes):
    return subprocess.run([GASELL, *map(str, arguments)], input=stdin, capture_output=True, text=True, timeout=timeout, env=environment(**changes))


class CommandTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = self._folder.name

    def script(self, text, name="script.gsl"):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def check(self, result, code=0, out=None, err=None):
        """Exit status, exact output, and what the messages contain (None: nothing; a list: each)."""
        self.assertEqual(result.returncode, code, f"stdout: {result.stdout}\nstderr: {result.stderr}")
        if out is not None:
            self.assertEqual(result.stdout, out)
        if err is None:
            self.assertEqual(result.stderr, "")
        for part in [err] if isinstance(err, str) else err or []:
            self.assertIn(part, result.stderr)
