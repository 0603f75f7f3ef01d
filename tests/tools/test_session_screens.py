"""A person at the session: keys, and the screen that each must give."""

import os
import time
import unittest

from screen import ScreenTerminal
from support import CommandTest

UP, DOWN, RIGHT, LEFT = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
HOME, END, DELETE, SHIFT_TAB = "\x1b[H", "\x1b[F", "\x1b[3~", "\x1b[Z"
CTRL_LEFT, CTRL_RIGHT = "\x1b[1;5D", "\x1b[1;5C"
ENTER, TAB, ESCAPE, BACKSPACE = "\r", "\t", "\x1b", "\x7f"


def ctrl(letter):
    return chr(ord(letter.upper()) & 31)


def alt(key):
    return "\x1b" + key


def paste(text):
    return f"\x1b[200~{text}\x1b[201~"


class Screens(CommandTest):
    def start(self, *arguments, columns=80, rows=24, **changes):
        changes.setdefault("TERM", "xterm-256color")
        changes.setdefault("GASELL_INIT", self.script("%config mistakes = off\n", "init_quiet.gsl"))
        t = ScreenTerminal(*arguments, columns=columns, rows=rows, cwd=self.folder, **changes)
        self.addCleanup(t.end)
        self.shows(t, ">>>")
        return t

    def shows(self, t, *rows):
        """Waits until these are the last rows of the screen."""
        wanted = list(rows)
        good = t.until(lambda screen: screen.lines()[-len(wanted) :] == wanted)
        self.assertTrue(good, "\n" + "\n".join(t.screen.lines()) + "\n--- instead of ---\n" + "\n".join(wanted))

    def steps(self, t, *steps):
        """Pairs of keys (a text, or several) and the rows that the screen ends with then (a text, or several)."""
        for keys, rows in steps:
            with self.subTest(keys=keys):
                t.press(*([keys] if isinstance(keys, str) else keys))
                self.shows(t, *([rows] if isinstance(rows, str) else rows))

    def style_of(self, t, text):
        """The style of the first letter of `text` in the last row that has it."""
        for row in range(t.screen.rows - 1, -1, -1):
            column = "".join(c or " " for c in t.screen.cells[row]).find(text)
            if column >= 0:
                return t.screen.styles[row][column]
        return None

    def test_blocks(self):
        t = self.start()
        self.steps(
            t,
            (["def f(x):", ENTER], (">>> def f(x):", "...")),
            ("if x > 1:", (">>> def f(x):", "...     if x > 1:")),
            ([ENTER, "return 'big'", ENTER], ("...         return 'big'", "...")),
            ("else:", ("...         return 'big'", "...     else:")),
            ([ENTER, "return 'small'", ENTER], ("...         return 'small'", "...")),
            (ENTER, ("...         return 'small'", "...", ">>>")),
            (["f(2)", ENTER], (">>> f(2)", "'big'", ">>>")),
            ([UP, UP], (">>> def f(x):", "...     if x > 1:", "...         return 'big'", "...     else:", "...         return 'small'")),
            ([LEFT, UP, UP, END, "!"], (">>> def f(x):", "...     if x > 1:", "...         return 'big'!", "...     else:", "...         return 'small'")),
            ([BACKSPACE, LEFT, "ger"], (">>> def f(x):", "...     if x > 1:", "...         return 'bigger'", "...     else:", "...         return 'small'")),
            ([DOWN, DOWN, END, ENTER], ("...         return 'small'", "...")),
            ([ENTER, "f(2)", ENTER], (">>> f(2)", "'bigger'", ">>>")),
            (["for i in range(2):", ENTER, "print(i)", ENTER, ENTER], (">>> for i in range(2):", "...     print(i)", "...", "0", "1", ">>>")),
            (["(1 +", ENTER, "2)", ENTER], (">>> (1 +", "...  2)", "3", ">>>")),
            (["x = {", ENTER, "'a': 1,", ENTER, "}"], (">>> x = {", "...     'a': 1,", "... }")),
            ([ENTER, "x", ENTER], (">>> x", "{'a': 1}", ">>>")),
        )

    def test_pastes(self):
        t = self.start()
        self.steps(
            t,
            (paste("@njit\n\ndef f(x):\n\ty = x\n\n\treturn y * 2\n\nf(4)\n"), (">>> @njit", "...", "... def f(x):", "...     y = x", "...", "...     return y * 2", "...", "... f(4)")),
            (ENTER, ("... f(4)", "8", ">>>")),
            (paste(">>> a = 1\n>>> def g():\n...     return a\n...\n>>> g()\n1\n"), (">>> a = 1", "... def g():", "...     return a", "...", "... g()")),
            (ENTER, ("... g()", "1", ">>>")),
            (paste("In [3]: b = [\n   ...:     2]\n\nIn [4]: b\nOut[4]: [2]\n"), (">>> b = [", "...     2]", "... b")),
            (ENTER, ("... b", "[2]", ">>>")),
            ([paste("c = 1 + \\\n    2"), ENTER, "c", ENTER], (">>> c", "3", ">>>")),
            (["len(", paste("'日本'"), ")", ENTER], (">>> len('日本')", "2", ">>>")),
        )

    def test_history_and_suggestions(self):
        history = os.path.join(self.folder, "history")
        t = self.start(GASELL_HISTORY=history)
        self.steps(
            t,
            (["alpha = 41", ENTER], ">>>"),
            (["beta = alpha + 1", ENTER], ">>>"),
            ("al", ">>> alpha = 41"),  # the rest is grey
            (RIGHT, ">>> alpha = 41"),
            ([ctrl("u"), "b", alt("f")], ">>> beta = alpha + 1"),
            ([ctrl("u"), "alpha", UP], ">>> alpha = 41"),
            (DOWN, ">>> alpha = 41"),
            ([ctrl("u"), ctrl("r"), "al"], (">>> beta = alpha + 1", "search: al")),
            (ctrl("r"), (">>> alpha = 41", "search: al")),
            ("x", (">>> alpha = 41", "not in the history: alx")),
            (ctrl("g"), ">>>"),
            ([ctrl("r"), "beta", ENTER, "beta", ENTER], (">>> beta", "42", ">>>")),
        )
        self.assertEqual(self.style_of(t, "alpha = 41"), "")
        t.press("al")
        self.assertEqual(self.style_of(t, "pha = 41"), "38;5;242")
        other = self.start(GASELL_HISTORY=history)
        self.steps(other, (["alpha_of_other = 1", ENTER], ">>>"))
        self.steps(t, ([ctrl("u"), ENTER, UP], ">>> alpha_of_other = 1"))

    def test_editing_keys(self):
        t = self.start()
        self.steps(
            t,
            ("one two three", ">>> one two three"),
            ([CTRL_LEFT, "X"], ">>> one two Xthree"),
            ([alt("b"), alt("b"), alt("d")], ">>> one  Xthree"),
            (ctrl("y"), ">>> one two Xthree"),
            ([HOME, DELETE], ">>> ne two Xthree"),
            (ctrl("_"), ">>> one two Xthree"),
            ([ctrl("e"), ctrl("w")], ">>> one two"),
            (ctrl("u"), ">>>"),
            (ctrl("y"), ">>> one two Xthree"),  # cuts that follow each other are one
            ([HOME, CTRL_RIGHT, "!"], ">>> one! two Xthree"),
            (ctrl("_"), ">>> one two Xthree"),
            (alt("/"), ">>> one! two Xthree"),
            ([ctrl("a"), ctrl("k")], ">>>"),
            (["ab", ctrl("t")], ">>> ba"),
            ([alt("b"), alt("u")], ">>> BA"),
            ([alt("\r"), "c"], (">>> BA", "... c")),
            ([UP, ctrl("a"), ctrl("k"), DELETE], ">>> c"),
            ([ctrl("e"), ctrl("u"), "日本語", LEFT, BACKSPACE], ">>> 日語"),
            ([ctrl("e"), ctrl("u"), "e\u0301x", LEFT, LEFT, DELETE], ">>> x"),
            (ctrl("l"), ">>> x"),
        )
        self.assertEqual(t.screen.lines(), [">>> x"])
        self.steps(t, (ctrl("c"), (">>> x^C", ">>>")))

    def test_completion(self):
        os.mkdir(os.path.join(self.folder, "a_folder"))
        self.script("", "a_file.gsl")
        t = self.start(columns=100)
        self.steps(
            t,
            ("np.linsp\t", ">>> np.linspace"),
            ("(", (">>> np.linspace(", "linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, *, chunks=None, axis=0,", "  device=None)")),
            ("0, 1, nu\t\t", (">>> np.linspace(0, 1, num", " num=", " numba  module")),
            ([TAB, ENTER], (">>> np.linspace(0, 1, num=", "linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, *, chunks=None, axis=0,", "  device=None)")),
            (["3)", ENTER], ("array([0. , 0.5, 1. ])", ">>>")),
            (["%config signatures = off", ENTER, "df = pd.DataFrame({'price': [1.5, 2.5], 'a name': ['x', 'y']})", ENTER], ">>>"),
            ("df['p\t", ">>> df['price']"),
            (".me\t", (">>> df['price'].me",) + tuple(self.menu_rows(t))),
            (TAB, (">>> df['price'].mean",) + tuple(self.menu_rows(t))),
            ([ESCAPE], ">>> df['price'].me"),
            ([ctrl("u"), "df.pri\t"], ">>> df.price"),
            ([ctrl("u"), "df.groupby('a\t"], ">>> df.groupby('a name'"),
            ([ctrl("u"), "d = {'key': 1}", ENTER, "d['\t"], ">>> d['key']"),
            ([ctrl("u"), "'x'.upp\t"], ">>> 'x'.upper"),
            ([ctrl("u"), "(np.ones(3) + 1).argso\t"], ">>> (np.ones(3) + 1).argsort"),
            ([ctrl("u"), "import nump\t"], ">>> import numpy"),
            ([ctrl("u"), "from math import isc\t"], ">>> from math import isclose"),
            ([ctrl("u"), "open('a_fo\t"], ">>> open('a_folder/"),
            ([ctrl("u"), "%tim\t"], ">>> %time"),
            ([ctrl("u"), "%run a_fi\t"], ">>> %run a_file.gsl"),
            ([ctrl("u"), "%config the\t"], ">>> %config theme"),
            ([ctrl("u"), "nothing_like_it\t"], ">>> nothing_like_it"),
        )

    def menu_rows(self, t):
        """What the list of df['price'].me… holds."""
        return [
            " mean          mean(axis=0, skipna=True, numeric_only=False)  The mean of the values.",
            " median        median(axis=0, skipna=True, numeric_only=False)  The median of the values.",
            " memory_usage  memory_usage(index=True, deep=False)  Bytes of the values and the labels.",
        ]

    def test_own_functions_in_hints_and_help(self):
        t = self.start()
        self.steps(
            t,
            ([paste("def area(width, height=2, *, unit='m'):\n    '''Area of a field.'''\n    return width * height"), ENTER], ">>>"),
            ("area(3, ", (">>> area(3,", "area(width, height=2, *, unit='m')")),
        )
        self.assertEqual(self.style_of(t, "height=2, *"), "38;5;222;1")
        self.steps(
            t,
            (["unit=", ESCAPE], (">>> area(3, unit=", "area(width, height=2, *, unit='m')")),
            ([ctrl("u"), "area?", ENTER], ("area(width, height=2, *, unit='m')", "Area of a field.", ">>>")),
            (["area??", ENTER], ("<entry 1>:1", "def area(width, height=2, *, unit='m'):", "    '''Area of a field.'''", "    return width * height", ">>>")),
            (["%config signatures = off", ENTER, "area("], ">>> area("),
        )

    def test_colours_brackets_and_mistakes(self):
        t = self.start()
        t.press("def f(x): return [1, 'a', len]  # c")
        self.shows(t, ">>> def f(x): return [1, 'a', len]  # c")
        for text, style in (("def", "38;5;75;1"), ("f(", "38;5;222;1"), ("1, ", "38;5;180"), ("'a'", "38;5;114"), ("len", "38;5;80"), ("# c", "38;5;245;3")):
            self.assertEqual(self.style_of(t, text), style, text)
        t.press(ctrl("u"), "f(a[1])")
        self.assertEqual(self.style_of(t, ")"), "48;5;240;1")
        self.assertEqual(self.style_of(t, "(a"), "48;5;240;1")
        t.press(ctrl("u"), "%config mistakes = on", ENTER, "x = = 1 + 2")
        self.shows(t, ">>> x = = 1 + 2", "SyntaxError: invalid syntax")
        self.assertIn("4;", self.style_of(t, "= 1"))
        t.press(ctrl("u"), "%config theme = light", ENTER, "if")
        self.assertEqual(self.style_of(t, "if"), "38;5;25;1")
        self.steps(t, ([ctrl("u"), "%config theme = pink", ENTER], ("ValueError: theme is one of dark, light, none, not 'pink'", ">>>")))

    def test_no_colours(self):
        t = self.start(NO_COLOR="1")
        t.press("def f(x): 1")
        self.assertEqual(self.style_of(t, "def"), "")

    def test_results(self):
        t = self.start()
        self.steps(
            t,
            (["6 * 7", ENTER], (">>> 6 * 7", "42", ">>>")),
            (["_ + 1", ENTER], ("43", ">>>")),
            (["__", ENTER], ("42", ">>>")),
            (["Out[2], In[1]", ENTER], ("(43, '6 * 7')", ">>>")),
            (["1 + 1;", ENTER], (">>> 1 + 1;", ">>>")),
            (["print('no end', end='')", ENTER], (">>> print('no end', end='')", "no end", ">>>")),
            (["print('part', end=' '); name = input('name? ')", ENTER], "part name?"),
            (["Zoë", ENTER, "name", ENTER], ("'Zoë'", ">>>")),
            (["%config prompt = ipython", ENTER], "In [10]:"),
            (["2 + 2", ENTER], ("In [10]: 2 + 2", "Out[10]: 4", "In [11]:")),
            (["if 1:", ENTER], ("In [11]: if 1:", "    ...:")),
        )

    def test_files_and_history_commands(self):
        self.script("import sys\nprint(sys.argv)\nfrom_file = 5\n", "args.gsl")
        t = self.start(columns=100)
        self.steps(
            t,
            (["%run args.gsl one 'two three'", ENTER], ("['args.gsl', 'one', 'two three']", ">>>")),
            (["from_file", ENTER], ("5", ">>>")),
            (["def f():", ENTER, "return 1", ENTER, ENTER], ">>>"),
            (["%history -n 2-3", ENTER], ("   2: from_file", "   3: def f():", "          return 1", ">>>")),
            (["%save saved.gsl 2-3", ENTER, "!cat saved.gsl", ENTER], ("from_file", "def f():", "    return 1", ">>>")),
            (["%save saved.gsl", ENTER], ("FileExistsError: 'saved.gsl' is there already", "hint: %save -f replaces a file, %save -a adds to it", ">>>")),
            (["%load saved.gsl", ENTER], (">>> from_file", "... def f():", "...     return 1")),
            (ctrl("c"), ("...     return 1^C", ">>>")),
            (["%load f", ENTER], (">>> def f():", "...     return 1")),
            ([ENTER, "words = !echo a; echo b", ENTER, "words", ENTER], ("['a', 'b']", ">>>")),
            (["from_file = 'x'; print(1)", ENTER, "!echo $from_file $UNKNOWN", ENTER], ("x", ">>>")),
            (["!printf 'no end'", ENTER], (">>> !printf 'no end'", "no end", ">>>")),
            (["%cd nowhere", ENTER], ("FileNotFoundError: [Errno 2] No such file or directory: 'nowhere'", ">>>")),
            (["!mkdir inside; exit 3", ENTER, "_exit_code", ENTER], ("3", ">>>")),
            (["%cd inside", ENTER, "%cd -", ENTER], (os.path.realpath(self.folder), ">>>")),
            (["%history -g from_fi -l 1", ENTER], ("%history -g from_fi -l 1", ">>>")),
            (["%history 99", ENTER], ("ValueError: there are entries 1 to 22, and no 99", ">>>")),
        )

    def test_edit(self):
        editor = self.script("#!/bin/sh\nprintf 'edited = 7\\nedited' > \"$1\"\n", "editor.sh")
        os.chmod(editor, 0o755)
        t = self.start(EDITOR=editor, VISUAL=None)
        self.steps(
            t,
            (["%edit", ENTER], (">>> %edit", "7", ">>>")),
            (["draft", ctrl("x"), ctrl("e")], (">>> draft", ">>> edited = 7", "... edited")),
            (ENTER, ("... edited", "7", ">>>")),
            (["%config editor = false", ENTER, "%edit", ENTER], ("RuntimeError: the editor 'false' ended with status 1", "hint: %config editor = NAME, or the variable EDITOR, choose another one", ">>>")),
        )

    def test_what_was_copied(self):
        os.chmod(self.script("#!/bin/sh\necho '>>> a = 5'\necho '>>> a + 1'\n", "xclip"), 0o755)
        t = self.start(DISPLAY=":0", WAYLAND_DISPLAY=None, PATH=self.folder + ":" + os.environ["PATH"])
        self.steps(t, (["%paste", ENTER], (">>> %paste", "a = 5", "a + 1", "6", ">>>")))
        t = self.start(DISPLAY=None, WAYLAND_DISPLAY=None, TMUX=None)
        t.press("%paste", ENTER)
        self.assertTrue(t.until(lambda screen: "RuntimeError: no program here tells what was copied" in screen.lines()))

    def test_suspending_keeps_what_is_written(self):
        t = self.start()
        self.steps(t, (["1 + 2", ctrl("z")], (">>> 1 + 2", ">>> 1 + 2")), ([" + 3", ENTER], ("6", ">>>")))

    def test_timing_and_profiles(self):
        t = self.start(columns=120)
        t.press("%%timeit -n 2 -r 2", ENTER, "x = 1", ENTER, "y = x + 1", ENTER, ENTER)
        t.until(lambda screen: "2 runs, 2 loops each" in screen.lines()[-2])
        self.shows(t, t.screen.lines()[-2], ">>>")
        self.assertIn("2 runs, 2 loops each", t.screen.lines()[-2])
        self.steps(t, (["%%who", ENTER, ENTER], ("SyntaxError: unknown command '%%who'", "hint: did you mean '%who'?", ">>>")), (ctrl("l"), ">>>"))
        t.press("r = %timeit -q -o -n 10 -r 2 1 + 1", ENTER, "r.loops, r.repeat, len(r.all_runs), r.best <= r.average <= r.worst", ENTER)
        self.shows(t, "(10, 2, 2, True)", ">>>")
        t.press(paste("def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\ndef twice(n): return fib(n) + fib(n)"), ENTER, "%prun twice(10)", ENTER)
        self.shows(t, *t.screen.lines()[-3:-1], ">>>")
        text = "\n".join(t.screen.lines())
        self.assertRegex(text, r"355 calls of functions in ")
        self.assertRegex(text, r"\n +354 .* fib \(<entry 5>:1\)\n +1 .* twice \(<entry 5>:3\)\n110\n>>>")

    def test_debug(self):
        t = self.start()
        self.steps(
            t,
            ([paste("def inner(a, b):\n    c = a + b\n    return c / 0\ndef outer(x):\n    y = [x]\n    return inner(x, 2)"), ENTER, "%debug", ENTER], ("ValueError: no exception was met in this session", ">>>")),
            (["outer(5)", ENTER, "nope.x\t", ctrl("u"), ctrl("l"), "%debug", ENTER], (
                ">>> %debug", "  <entry 3>:1", "    outer(5)", "  <entry 1>:6, in outer", "    return inner(x, 2)", "> <entry 1>:3, in inner", "    return c / 0", "(debug)")),
            (["c * 10 + a", ENTER], ("(debug) c * 10 + a", "75", "(debug)")),
            (["vars", ENTER], ("a = 5", "b = 2", "c = 7", "(debug)")),
            (["up", ENTER], ("> <entry 1>:6, in outer", "    return inner(x, 2)", "(debug)")),
            (["y, [v + x for v in y]", ENTER], ("([5], [10])", "(debug)")),
            (["nope", ENTER], ("NameError: name 'nope' is not defined", "(debug)")),
            (["list", ENTER], ("     4  def outer(x):", "     5      y = [x]", ">    6      return inner(x, 2)", "(debug)")),
            (["q", ENTER], ("(debug) q", ">>>")),
        )

    def test_vi(self):
        t = self.start()
        self.steps(
            t,
            (["%config keys = vi", ENTER, "one two", ESCAPE], ">>> one two"),
            (["b", "c", "w", "three"], ">>> one three"),
            ([ESCAPE, "0", "2", "x"], ">>> e three"),
            (["u", "$", "a", "!"], ">>> one three!"),
            ([ESCAPE, "d", "d", "i", "5 * 5", ENTER], ("25", ">>>")),
            ([ESCAPE, "k", ENTER], ("25", ">>>")),
        )

    def test_reset(self):
        t = self.start()
        self.steps(
            t,
            (["a = 1; b = 2", ENTER, "a", ENTER, "%reset", ENTER], "Forget all variables and results? (y/n)"),
            (["n", ENTER, "a", ENTER], ("1", ">>>")),
            (["%reset -f", ENTER, "%who", ENTER, "Out", ENTER], (">>> %who", "no variables", ">>> Out", "{}", ">>>")),
        )

    def test_init_file_and_script_before_the_session(self):
        init = self.script("%config prompt = ipython\nfrom math import tau\nwrong = 1 / 0\n", "init.gsl")
        script = self.script("import sys\nleft = sys.argv[1:]\n", "first.gsl")
        t = ScreenTerminal("-i", script, "x", cwd=self.folder, GASELL_INIT=init)
        self.addCleanup(t.end)
        self.shows(t, "ZeroDivisionError: division by zero", "In [1]:")
        self.assertIn("init.gsl:3:9", "\n".join(t.screen.lines()))
        self.steps(t, (["left, tau", ENTER], ("Out[1]: (['x'], 6.283185307179586)", "In [2]:")))

    def test_pager(self):
        t = self.start(PAGER="wc -l")
        t.press("%help", ENTER)
        self.assertTrue(t.until(lambda screen: screen.lines()[-1] == ">>>" and screen.lines()[-2].isdigit()))
        self.assertEqual(len(t.screen.lines()), 5)  # the text itself went to the pager

    def test_long_entries_and_resizing(self):
        t = self.start(columns=40, rows=10)
        block = "\n".join(["def long():"] + [f"    x{k} = {k}" for k in range(20)] + ["    return x7"])
        self.steps(t, (paste(block), ("...     x11 = 11",) + tuple(f"...     x{k} = {k}" for k in range(12, 20)) + ("...     return x7",)))
        t.press(*[UP] * 15)
        self.shows(t, *(f"...     x{k} = {k}" for k in range(5, 15)))
        self.steps(t, (["\x1b[1;5F", ENTER], ("...     x19 = 19", "...     return x7", ">>>")), (["long()", ENTER], ("7", ">>>")))
        t.press("y = 'a text that is longer than a row of this window'")
        self.shows(t, ">>> y = 'a text that is longer than a ro", "w of this window'")
        t.resize(60, 12)
        self.shows(t, ">>> y = 'a text that is longer than a row of this window'")
        self.steps(t, ([ENTER, "len(y)", ENTER], ("47", ">>>")))

    def test_typing_is_fast_in_a_long_session(self):
        """The time from a key to the screen that shows it, with 2,000 entries in the history and an entry of 2,000 lines."""
        history = os.path.join(self.folder, "long_history")
        with open(history, "w", encoding="utf-8") as file:
            file.write("_HiStOrY_V2_\n" + "".join(f"value_{k}\\040=\\040np.arange({k}).sum()\n" for k in range(2000)))
        t = self.start(GASELL_HISTORY=history)

        def median_latency(keys):
            times = []
            for key in keys:
                start = time.perf_counter()
                t.send(key)
                t.read_some(1)
                times.append(time.perf_counter() - start)
                t.settle(0.01)
            return sorted(times)[len(times) // 2]

        limit = float(os.environ.get("GASELL_TEST_KEY_SECONDS", "0.05"))  # the target is 0.005; a loaded machine gets slack
        short = median_latency("value = np.sum(value_3, axis=")
        self.assertLess(short, limit)
        t.press(ctrl("u"), paste("\n".join(f"x{k} = np.arange({k}).sum() + {k}  # line {k}" for k in range(2000))))
        long = median_latency("value = 12345")
        self.assertLess(long, limit)
        print(f"a key takes {short * 1e3:.1f} ms, in an entry of 2,000 lines {long * 1e3:.1f} ms", flush=True)


    def test_values_are_laid_out_for_the_terminal(self):
        t = self.start(columns=40, rows=12)
        self.steps(
            t,
            ([ctrl("l"), "np.arange(20)", ENTER], (">>> np.arange(20)", "array([ 0,  1,  2,  3,  4,  5,  6,  7,", "        8,  9, 10, 11, 12, 13, 14, 15,", "       16, 17, 18, 19])", ">>>")),
            ([ctrl("l"), "df = pd.DataFrame(np.ones((1, 9)))", ENTER, "df", ENTER], ("     0    1    2  ...    6    7    8", "0  1.0  1.0  1.0  ...  1.0  1.0  1.0", "", "[1 rows x 9 columns]", ">>>")),
            ([ctrl("l"), "%config width = 80", ENTER, "print(np.arange(20)[:12])", ENTER], ("[ 0  1  2  3  4  5  6  7  8  9 10 11]", ">>>")),
            ([ctrl("l"), "%config width = auto", ENTER, "np.set_printoptions(linewidth=20)", ENTER, "np.arange(6)", ENTER], ("array([0, 1, 2, 3,", "       4, 5])", ">>>")),
            ([ctrl("l"), "pd.set_option('display.width', 30)", ENTER, "df", ENTER], ("     0    1  ...    7    8", "0  1.0  1.0  ...  1.0  1.0", "", "[1 rows x 9 columns]", ">>>")),
            ([ctrl("l"), "%config width = wide", ENTER], ("ValueError: width is auto or a number of", " columns, not 'wide'", ">>>")),
        )
        wide = self.start(columns=100, rows=12)
        self.steps(wide, ([ctrl("l"), "np.arange(24)", ENTER], ("array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,", "       23])", ">>>")))
        wide.resize(50, 12)
        self.steps(wide, ([ctrl("l"), "np.arange(14)", ENTER], ("array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,", "       10, 11, 12, 13])", ">>>")))

    def test_commands_about_the_machine(self):
        t = self.start(columns=100, rows=40)
        self.steps(
            t,
            ([ctrl("l"), "x = np.arange(100_000.0)", ENTER, "%emit graph (x + 1).sum()", ENTER], ">>>"),
            ([ctrl("l"), "%emit words x", ENTER], ("SyntaxError: %emit wants graph, loops, llvm, asm, grid or ptx, and something to run", "hint: for example: %emit loops (x + 1).sum()", ">>>")),
            ([ctrl("l"), "%trace", ENTER], ("SyntaxError: %trace wants a file, and something to run", "hint: for example: %trace run.html (x + 1).sum()", ">>>")),
            ([ctrl("l"), "%trace run.json (x * 3).sum()", ENTER], ("run.json is written", "np.float64(14999850000.0)", ">>>")),
        )
        self.assertTrue(os.path.getsize(os.path.join(self.folder, "run.json")) > 100)
        for command, word in (("%emit graph (x * 2).sum()", "reduce sum"), ("%emit loops (x * 2).sum()", "f64"), ("%profile (x * 5).sum()", "reduce_sum"), ("%devices", "processor"), ("%memory", "arrays take")):
            with self.subTest(command):
                t.press(ctrl("l"), command, ENTER)
                self.assertTrue(t.until(lambda screen: any(word in row for row in screen.lines()[1:]) and screen.lines()[-1] == ">>>"), t.screen.lines())
        self.steps(t, ([ctrl("l"), "(x * 7).max()", ENTER], (">>> (x * 7).max()", "np.float64(699993.0)", ">>>")))  # nothing is emitted any more

    def test_an_example_below_a_description(self):
        t = self.start()
        self.steps(t, ([ctrl("l"), "?math.gcd", ENTER], (">>> math.gcd(12, 18, 8)", "2", ">>>")), ([ctrl("l"), "?str.zfill", ENTER], (">>> '-7'.zfill(4)", "'-007'", ">>>")))


    def test_completion_of_modules_and_settings(self):
        t = self.start(rows=14)
        self.steps(
            t,
            ([ctrl("l"), "from scipy.linalg import toe", TAB], ">>> from scipy.linalg import toeplitz"),
            ([ctrl("u"), "import sklearn.li", TAB], ">>> import sklearn.linear_model"),
            ([ctrl("u"), "import scipy.", TAB], (">>> import scipy.", " scipy.fft", " scipy.linalg", " scipy.signal", " scipy.sparse")),
            ([ESCAPE, ctrl("u"), "from nosuch import a", TAB], ">>> from nosuch import a"),
            ([ctrl("u"), "%config theme = ", TAB], (">>> %config theme =", " dark", " light", " none")),
            ([ESCAPE, ctrl("u"), "%config keys=v", TAB], ">>> %config keys=vi"),
            ([ctrl("u"), "%config wi", TAB], ">>> %config width"),
        )

    def test_narrow_terminals(self):
        t = self.start(columns=60, rows=14)
        self.assertEqual(t.screen.lines()[0].split(" on ")[0], "Gasell 0.1.0")
        self.assertEqual(t.screen.lines()[1], "Tab completes, ?name explains, %help lists the commands, Ctr")  # wider than the terminal by itself
        self.steps(t, ([ctrl("l"), "def function(first_argument, second_argument, third_argument=None): pass", ENTER, ENTER, ctrl("l"), "?function", ENTER], (">>> ?function", "function(first_argument, second_argument,", "    third_argument=None)", ">>>")))


if __name__ == "__main__":
    unittest.main(verbosity=1)
