"""gasell completions and gasell man: made from the command's own options."""

import re
import shutil
import subprocess
import unittest

from support import CommandTest, run


class Completions(CommandTest):
    def bash(self, *words):
        """What bash would offer behind these words, the last of which is being written."""
        script = run("completions", "bash").stdout
        line = " ".join(f"'{word}'" for word in words)
        script += f"\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _gasell; printf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash(self):
        self.script("", "one.gsl")
        self.script("", "other.txt")
        self.assertEqual(self.bash("gasell", "che"), ["check"])
        self.assertEqual(self.bash("gasell", "--thr"), ["--threads"])
        self.assertEqual(self.bash("gasell", "fmt", "--d"), ["--diff"])
        self.assertEqual(self.bash("gasell", "fmt", "o"), ["one.gsl"])

    def test_every_option_is_there(self):
        options = set(re.findall(r"(?<![\w-])--[a-z-]+", run("--help").stdout)) - {"--"}
        for shell in ("bash", "zsh", "fish"):
            text = run("completions", shell).stdout
            missing = [o for o in options if o not in text and f"-l {o[2:]} " not in text]
            self.assertEqual(missing, [], shell)

    def test_other_shells(self):
        for shell, check in (("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])):
            if not shutil.which(shell):
                continue
            with self.subTest(shell):
                done = subprocess.run(check, input=run("completions", shell).stdout, capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_unknown_shell(self):
        self.check(run("completions", "csh"), code=2, out="", err="bash, zsh and fish")

    def test_manual_page(self):
        text = run("man").stdout
        self.assertTrue(text.startswith(".TH GASELL 1"))
        if shutil.which("man"):
            done = subprocess.run(["man", "-l", "-"], input=text, capture_output=True, text=True)
            if done.returncode == 0:
                self.assertIn("--threads N", done.stdout)
                self.assertIn("gasell fmt", done.stdout)


if __name__ == "__main__":
    unittest.main()
