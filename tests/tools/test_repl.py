"""The interactive session, driven through a pseudo-terminal as a person would."""

import fcntl
import os
import select
import signal
import struct
import termios
import time
import unittest
from pathlib import Path

from support import INTERRUPT_LIMIT, CommandTest
from terminal import MORE, PROMPT, Terminal


class Repl(CommandTest):
    def start(self, *arguments, **changes):
        terminal = Terminal(*arguments, **changes)
        terminal.expect(PROMPT)
        self.addCleanup(terminal.end)
        return terminal

    def test_values_and_last_result(self):
        t = self.start()
        self.assertEqual(t.enter("1 + 1"), "2\n")
        self.assertEqual(t.enter("x = 5"), "")
        self.assertEqual(t.enter("'a' + 'b'"), "'ab'\n")
        self.assertEqual(t.enter("_ + 'c'"), "'abc'\n")
        self.assertEqual(t.enter("None"), "")
        self.assertEqual(t.enter("np.arange(3) + x"), "array([5, 6, 7])\n")
        t.send("\x04")
        self.assertEqual(t.close(), 0)

    def test_blocks(self):
        t = self.start()
        t.enter("def twice(x):", MORE)
        t.enter("    return x * 2", MORE)
        t.enter("")
        self.assertEqual(t.enter("twice(21)"), "42\n")
        t.enter("for i in range(2):", MORE)
        t.enter("    print(i)", MORE)
        self.assertEqual(t.enter(""), "0\n1\n")
        t.enter("(1 +", MORE)
        self.assertEqual(t.enter("2)"), "3\n")

    def test_errors_leave_the_session(self):
        t = self.start()
        self.assertIn("NameError", t.enter("nope"))
        self.assertIn("SyntaxError", t.enter("1 +* 2"))
        self.assertIn("ZeroDivisionError", t.enter("1 / 0"))
        self.assertEqual(t.enter("'alive'"), "'alive'\n")

    def test_interrupt_of_a_computation(self):
        t = self.start()
        for computation in ("np.sin(da.random.RandomState(1).normal(size=(1000000, 1000000))).sum().compute()", "[0 for i in range(10**12)]"):
            t.send(computation + "\n")
            time.sleep(0.7)
            start = time.monotonic()
            t.send("\x03")
            shown = t.expect(PROMPT)
            self.assertLess(time.monotonic() - start, INTERRUPT_LIMIT)
            self.assertIn("KeyboardInterrupt", shown)
            self.assertEqual(t.enter("float(np.ones(10).sum())"), "10.0\n")

    def test_interrupt_of_an_entry(self):
        t = self.start()
        t.send("some text")
        time.sleep(0.2)
        t.send("\x03")
        t.expect(PROMPT)
        t.enter("def f():", MORE)
        t.send("\x03")
        t.expect(PROMPT)
        self.assertEqual(t.enter("40 + 2"), "42\n")

    def test_commands(self):
        t = self.start()
        t.enter("x = np.arange(1000.0)")
        self.assertRegex(t.enter("%time (x + 1).sum()"), r"(?s)CPU times: user .*, sys: .*, total: .*\nWall time: [\d.]+ .?s\n.*500500\.0")
        self.assertEqual(t.enter("_"), "np.float64(500500.0)\n")
        self.assertRegex(t.enter("%timeit 1 + 1"), r"^[\d.]+ ns ± [\d.]+ ns per loop \(mean ± std\. dev\. of 7 runs, [\d,]+ loops each\)\n$")
        self.assertRegex(t.enter("%timeit -n 10 -r 2 x * 2"), r"per loop \(mean ± std\. dev\. of 2 runs, 10 loops each\)\n$")
        self.assertIn("-n wants a positive number", t.enter("%timeit -n many x"))
        self.assertIn("ZeroDivisionError", t.enter("%timeit 1 / 0"))
        self.assertIn("1 kernel\n", t.enter("%explain (x * 2 + 1).sum()"))
        for entry in ("?np.sum", "np.sum?"):
            self.assertIn("axis", t.enter(entry, then="\n>>> np.sum([[1, 2], [3, 4]])\nnp.int64(10)\n"))
            t.expect("array([4, 6])\n>>> ")
        self.assertIn("float64", t.enter("x?"))
        self.assertIn("did you mean '%time'", t.enter("%tme 1"))
        self.assertIn("%explain", t.enter("%help"))

    def test_variables(self):
        t = self.start()
        self.assertEqual(t.enter("%who"), "no variables\n")
        t.enter("zeta = np.ones((3, 4)); alpha = 'text'; _hidden = 1")
        self.assertEqual(t.enter("%who"), "alpha  zeta\n")
        self.assertEqual(
            t.enter("%whos"),
            "variable  type     value\nalpha     str      'text'\nzeta      ndarray  (3, 4) float64, 96 B\n",
        )

    def test_running_a_file(self):
        good = self.script("made_here = 6 * 7\nprint('ran', __name__)\n", "good.gsl")
        bad = self.script("x = 1\nx[2]\n", "bad.gsl")
        t = self.start()
        self.assertEqual(t.enter(f"%run {good}"), "ran __main__\n")
        self.assertEqual(t.enter("made_here"), "42\n")
        self.assertIn("bad.gsl:2:1", t.enter(f"%run '{bad}'"))
        self.assertIn("No such file", t.enter("%run nowhere.gsl"))
        self.assertIn("wants a file", t.enter("%run"))

    def test_what_is_no_command(self):
        t = self.start()
        self.assertIn("did you mean '%who'", t.enter("%whoo"))
        self.assertEqual(t.enter("5 % 3"), "2\n")

    def test_paste(self):
        t = self.start()
        block = "def f(x):\r\ty = x + 1\r\r\t# within\r\tif y > 3:\r\t\treturn y\r\r\telse:\r\t\treturn -y\rprint(f(1), f(5))\rf(2)\r"
        t.send(f"\x1b[200~{block}\x1b[201~")
        t.expect("f(2)")
        time.sleep(0.2)
        self.assertNotIn("-2 6", t.shown)  # it waits to be read
        t.send("\n")
        t.expect("-2 6\n")
        t.expect("-3\n")
        t.expect(PROMPT)
        self.assertEqual(t.enter("'alive'"), "'alive'\n")
        t.send("\x1b[200~q = 5\nq + 1\x1b[201~")  # the last line waits for Enter
        t.expect("q + 1")
        self.assertEqual(t.enter("00"), "105\n")
        t.send("[1, \x1b[200~20\t\x1b[201~, 3]\n")
        t.expect("\n[1, 20, 3]\n")

    def test_paste_of_decorated_functions(self):
        t = self.start()
        t.send("\x1b[200~@njit\n\n# twice\ndef f(x):\n    y = x\n\n    # within\n# and before the margin\n    return y * 2\n\n@njit\ndef g(x): return x + 1\nf(2), g(2)\n\x1b[201~\n")
        t.expect("(4, 3)\n")
        t.expect(PROMPT)
        self.assertEqual(t.enter("type(f) is type(njit(lambda x: x)), type(g) is type(f)"), "(True, True)\n")
        t.enter("@njit", MORE)  # an empty line may stand behind a decorator at the prompt, too
        t.enter("", MORE)
        t.enter("def h(x):", MORE)
        t.enter("    return x", MORE)
        t.enter("")
        self.assertEqual(t.enter("type(h) is type(f)"), "True\n")

    def test_lines_that_go_on(self):
        t = self.start()
        t.enter("y = 1 + \\", MORE)
        self.assertEqual(t.enter("    2"), "")
        self.assertEqual(t.enter("y"), "3\n")
        t.enter('x = """what?', MORE)
        self.assertEqual(t.enter('or not?"""'), "")
        self.assertEqual(t.enter("x"), "'what?\\nor not?'\n")
        self.assertEqual(t.enter("'what?'"), "'what?'\n")
        self.assertIn("unterminated", t.enter("'what?"))

    def test_interrupt_of_input(self):
        t = self.start()
        t.send("name = input('your ' + 'name? ')\n")
        t.expect("your name? ")
        t.send("\x03")
        self.assertIn("KeyboardInterrupt", t.expect(PROMPT))
        t.enter("try: name = input('your ' + 'name? ')", MORE)
        t.enter("except KeyboardInterrupt: print('caught', 'it')", MORE)
        t.send("\n")
        t.expect("your name? ")
        t.send("\x03")
        t.expect("caught it\n")
        t.expect(PROMPT)
        t.send("name = input('your ' + 'name? ')\n")
        t.expect("your name? ")
        t.enter("Gazelle")
        self.assertEqual(t.enter("name"), "'Gazelle'\n")

    def test_interrupt_of_input_in_a_script(self):
        script = self.script("try:\n    name = input('name? ')\nexcept KeyboardInterrupt:\n    print('caught')\nprint(input('again? '))\n", "asks.gsl")
        t = Terminal(script)
        self.addCleanup(t.end)
        t.expect("name? ")
        t.send("\x03")
        t.expect("caught\n")
        t.expect("again? ")
        t.send("yes\n")
        t.expect("yes\n")
        t.expect("yes\n")
        self.assertEqual(t.close(), 0)

    def test_history_of_closed_windows_and_of_several_sessions(self):
        history = Path(self.folder) / "shared_history"
        first = self.start(GASELL_HISTORY=str(history))
        first.enter("'ab\\\\c ä'")
        second = self.start(GASELL_HISTORY=str(history))
        second.enter("17 + 25")
        os.kill(first.process, signal.SIGHUP)
        second.enter("17 + 25")
        second.send("\x04")
        self.assertEqual(second.close(), 0)
        first.close()
        self.assertEqual(len(history.read_text().splitlines()), 3)
        third = self.start(GASELL_HISTORY=str(history))
        third.send("\x1b[A")
        third.expect("17 + 25")
        third.send("\x1b[A")
        third.expect("ä")
        self.assertEqual(third.enter(""), "'ab\\\\c ä'\n")
        self.assertEqual(history.stat().st_mode & 0o777, 0o600)

    def test_history_is_shortened(self):
        history = Path(self.folder) / "long_history"
        history.write_text("_HiStOrY_V2_\n" + "".join(f"x{k}\n" for k in range(12000)))
        t = self.start(GASELL_HISTORY=str(history))
        t.send("\x04")
        t.close()
        lines = history.read_text().splitlines()
        self.assertEqual((lines[0], lines[1], lines[-1], len(lines)), ("_HiStOrY_V2_", "x7000", "x11999", 5001))

    def test_paste_that_fails(self):
        t = self.start()
        t.send("\x1b[200~for i in range(2):\n    print(i)\nelse:\n    print('done')\n1 / 0\n'after'\n\x1b[201~\n")
        t.expect("0\n1\ndone\n")
        self.assertIn("5:1\n", t.expect("ZeroDivisionError"))
        self.assertNotIn("'after'\n'after'\n", t.expect(PROMPT))

    def test_files_are_completed(self):
        self.script("saved_here = 1\n", "longscript.gsl")
        t = self.start()
        t.enter("%config signatures = off")
        t.send(f"len(open('{self.folder}/longs\t")
        t.expect("longscript.gsl")
        self.assertEqual(t.enter("').read())"), "15\n")
        t.send(f"%run {self.folder}/lo\t")
        t.expect("longscript.gsl")
        t.enter("")
        self.assertEqual(t.enter("saved_here"), "1\n")

    def test_input(self):
        t = self.start()
        t.send("name = input('who? ')\n")
        t.expect("who? ")
        t.enter("Zoë")
        self.assertEqual(t.enter("name"), "'Zoë'\n")

    def test_terminals_that_the_machine_does_not_know(self):
        for name in ("xterm-unheard-of", "unheard-of", "dumb", "", None):
            with self.subTest(name):
                t = Terminal(TERM=name)
                self.addCleanup(t.end)
                self.assertTrue(t.expect(PROMPT).startswith("Gasell "))  # not a word about it
                self.assertEqual(t.enter("40 + 2"), "42\n")
                t.enter("some_long_name = [73]")
                t.send("some_l\t[0]\n")  # plain lines are shown again, not edited in place
                t.expect("\n73\n")
                t.expect(PROMPT)
                t.send("\x04")
                self.assertEqual(t.close(), 0)

    def test_unicode(self):
        t = self.start()
        self.assertEqual(t.enter("α = '日本語'; α * 2"), "'日本語日本語'\n")

    def test_resized_window(self):
        t = self.start()
        t.enter("%config signatures = off")
        t.send("x = list(range(10)")
        t.expect("x = list(range(10)")
        fcntl.ioctl(t.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 200, 0, 0))  # sends SIGWINCH: a second one would draw once more
        t.expect("x = list(range(10)")  # drawn anew
        t.enter(")")
        self.assertEqual(t.enter("len(x)"), "10\n")

    def test_completion(self):
        t = self.start()
        t.enter("some_long_name = [3]")
        t.send("some_l\t")
        self.assertEqual(t.enter("[0]"), "3\n")
        t.send("np.lins\t")
        t.expect("np.linspace")
        self.assertEqual(t.enter("(0, 1, 2)"), "array([0., 1.])\n")

    def test_history(self):
        history = os.path.join(self.folder, "history")
        t = self.start(GASELL_HISTORY=history)
        t.enter("41 + 1")
        t.send("\x04")
        self.assertEqual(t.close(), 0)
        t = self.start(GASELL_HISTORY=history)
        t.send("\x1b[A")
        t.expect("41 + 1")
        self.assertEqual(t.enter(""), "42\n")

    def test_leaving(self):
        for line, code in (("exit", 0), ("exit()", 0), ("import sys; sys.exit(3)", 3)):
            t = self.start()
            t.send(line + "\n")
            self.assertEqual(t.close(), code)

    def test_colour(self):
        t = self.start()
        raw = []
        read = os.read
        t.send("nope\n")
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and b"NameError" not in b"".join(raw):
            if select.select([t.fd], [], [], 0.1)[0]:
                raw.append(read(t.fd, 65536))
        self.assertIn(b"\x1b[", b"".join(raw).split(b"nope", 1)[1])
        t = self.start(NO_COLOR="1")
        self.assertIn("NameError", t.enter("nope"))


class ProgressLine(CommandTest):
    def test_shown_on_a_terminal_after_a_second(self):
        start = time.monotonic()
        t = Terminal("-c", "print(np.sin(da.random.RandomState(1).normal(size=(1000000, 1000000))).sum())")
        t.expect("%")
        self.assertGreater(time.monotonic() - start, 0.9)
        t.send("\x03")
        t.expect("KeyboardInterrupt")
        self.assertEqual(t.close(), 130)


if __name__ == "__main__":
    unittest.main(verbosity=1)
