"""The command line: what runs, what is printed where, exit statuses."""

import errno
import json
import os
import resource
import signal
import subprocess
import time
import unittest

from support import GASELL, INTERRUPT_LIMIT, CommandTest, environment, run


class Running(CommandTest):
    def test_text(self):
        self.check(run("-c", "print(1)"), out="1\n")

    def test_file_with_arguments(self):
        path = self.script("import sys\nprint(sys.argv[1:], len(sys.argv))\n")
        self.check(run(path, "a", "--threads", "-x"), out="['a', '--threads', '-x'] 4\n")

    def test_text_with_arguments(self):
        self.check(run("-c", "import sys\nprint(sys.argv)", "a", "b"), out="['-c', 'a', 'b']\n")

    def test_standard_input(self):
        self.check(run("-", stdin="x = 2\nprint(x * 21)\n"), out="42\n")
        self.check(run(stdin="print('piped')"), out="piped\n")

    def test_empty_script(self):
        self.check(run(self.script("")), out="")

    def test_array(self):
        self.check(run("-c", "print((np.arange(10)+1).sum())"), out="55\n")

    def test_kernels_that_do_not_vectorise_say_nothing(self):
        self.check(run("--no-cache", "-c", "print(np.exp(np.zeros(3, 'c16')).sum())"), out="(3+0j)\n")

    def test_byte_order_mark(self):
        self.check(run(self.script("\ufeffprint('bom')\n")), out="bom\n")

    def test_options_before_the_script(self):
        path = self.script("print(np.ones(1000).sum())")
        for options in (["--threads", "1"], ["--memory", "256MiB"], ["--no-fuse"], ["--chunk", "7"], ["--no-cache"], ["--device", "cpu"], ["--threads=2", "--memory=1e9"]):
            with self.subTest(options):
                self.check(run(*options, path), out="1000.0\n")

    def test_exit_status_of_the_script(self):
        self.check(run("-c", "import sys\nsys.exit(7)"), code=7)
        self.check(run("-c", "raise SystemExit"), code=0)


class Failing(CommandTest):
    def test_exception(self):
        result = run(self.script("x = [1]\nprint('before')\nx[3]\n"))
        self.check(result, code=1, out="before\n", err=["IndexError: list index out of range", "script.gsl:3:", "x[3]", "^"])

    def test_syntax_error_runs_nothing(self):
        self.check(run(self.script("print('no')\nif x\n")), code=1, out="", err=["SyntaxError", "script.gsl:2:"])

    def test_missing_script(self):
        self.check(run("/nowhere/at_all.gsl"), code=2, out="", err="No such file or directory")

    def test_a_folder_as_script(self):
        self.check(run(self.folder), code=2, out="", err="directory")

    def test_not_utf8(self):
        path = os.path.join(self.folder, "latin.gsl")
        with open(path, "wb") as file:
            file.write(b"x = '\xe9'\n")
        self.check(run(path), code=1, out="", err="SyntaxError")

    def test_wrong_command_lines(self):
        for arguments, message in (
            (["--bogus"], "--bogus"),
            (["--threads", "0", "-c", ""], "--threads"),
            (["--threads", "many", "-c", ""], "many"),
            (["--threads", "1.5", "-c", ""], "--threads wants a whole number from 1 to 4096, not '1.5'"),
            (["--chunk", "1e3", "-c", ""], "--chunk wants a whole number"),
            (["--nope", "-c", "print(1)"], "unknown option '--nope'"),
            (["-x", "-c", "print(1)"], "unknown option '-x'"),
            (["--memory", "lots", "-c", ""], "'lots' is not a size"),
            (["--memory", "0", "-c", ""], "'0' is not a size"),
            (["--device", "gpu:", "-c", ""], "unknown device 'gpu:'"),
            (["--device", "gpu:0,0", "-c", ""], "names GPU 0 twice"),
            (["--device", "sim:0", "-c", ""], "1 to 64 GPUs can be simulated"),
            (["--device", "toaster", "-c", ""], "unknown device 'toaster'"),
            (["--emit", "pixels", "-c", ""], "'pixels'"),
            (["--after", "hoist", "-c", ""], "--emit=loops"),
            (["--emit=loops", "--after=hoost", "-c", "1"], "no pass 'hoost'"),
            (["-c"], "-c"),
            (["check"], "FILE"),
        ):
            with self.subTest(arguments):
                self.check(run(*arguments), code=2, out="", err=message)

    def test_wrong_environment(self):
        for name, value, message in (
            ("GASELL_THREADS", "x", "GASELL_THREADS wants a number from 1 to 4096, not 'x'"),
            ("GASELL_CHUNK", "-1", "GASELL_CHUNK wants a number"),
            ("GASELL_MEMORY", "lots", "GASELL_MEMORY: 'lots' is not a size"),
            ("GASELL_FUSE", "maybe", "GASELL_FUSE is 0 or 1, not 'maybe'"),
            ("GASELL_DEVICE", "toaster", "unknown device 'toaster'"),
        ):
            with self.subTest(name):
                self.check(run("-c", "print(1)", **{name: value}), code=2, out="", err=message)
        self.check(run("-c", "print(1)", GASELL_THREADS="", GASELL_FUSE="", GASELL_MEMORY=""), out="1\n")

    def test_devices(self):
        self.check(run("--device", "sim:2", "-c", "import numpy as np\nprint(np.arange(5.0).sum())"), out="10.0\n")
        self.check(run("--device", "gpu:977", "-c", "print(1)"), code=1, out="", err="there is no GPU")

    def test_what_stands_behind_the_text_is_the_scripts(self):
        self.check(run("-c", "import sys\nprint(sys.argv)", "--nope", "-x"), out="['-c', '--nope', '-x']\n")

    def test_json_errors(self):
        result = run("--json-errors", "-c", "\nnope")
        self.assertEqual(result.returncode, 1)
        error = json.loads(result.stderr)
        self.assertEqual((error["kind"], error["line"], error["column"]), ("NameError", 2, 1))

    def test_no_colour_when_not_on_a_terminal(self):
        self.assertNotIn("\x1b", run("-c", "nope").stderr)

    def test_closed_output_is_quiet(self):
        command = f"'{GASELL}' -c \"for i in range(200000): print(i)\" | head -n 1"
        result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, env=environment())
        self.assertEqual((result.stdout, result.stderr), ("0\n", ""))

    def test_full_disk(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([GASELL, "-c", "print('x' * 100000)"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, env=environment())
        self.assertEqual(result.returncode, 1)
        self.assertIn("No space left on device", result.stderr)

    def test_file_size_limit(self):
        """A limit that the system enforces with SIGXFSZ is an error of the write, and leaves nothing behind."""
        text = f"np.save('{self.folder}/x.npy', np.arange(1000))\ntry:\n    np.save('{self.folder}/x.npy', np.arange(3e6))\nexcept OSError as e:\n    print(e.errno)\nprint(np.load('{self.folder}/x.npy').sum())"
        limited = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        result = subprocess.run([GASELL, "-c", text], capture_output=True, text=True, timeout=60, env=environment(GASELL_CACHE="0"), preexec_fn=limited)
        self.check(result, out=f"{errno.EFBIG}\n499500\n")
        self.assertEqual(os.listdir(self.folder), ["x.npy"])


class Looking(CommandTest):
    def test_version_and_help(self):
        self.assertRegex(run("--version").stdout, r"^Gasell \d+\.\d+\.\d+\n$")
        text = run("--help").stdout
        for part in ("FILE.gsl", "-c", "--threads", "--memory", "--device", "--emit", "--explain", "doctor", "check"):
            self.assertIn(part, text)

    def test_doctor(self):
        result = run("doctor")
        self.check(result)
        for row in ("Gasell", "processor", "memory", "compiler", "linear algebra", "Parquet files", "web addresses", "GPU driver", "kernel cache"):
            self.assertRegex(result.stdout, rf"(?m)^{row} +\S")
        self.assertIn("LLVM 19", result.stdout)

    def test_check_runs_nothing(self):
        self.check(run("check", self.script("print('no')\n1 / 0\n")), out="")
        self.check(run("check", self.script("def f(:\n")), code=1, out="", err="SyntaxError")

    def test_emit_ast(self):
        result = run("--emit=ast", "-c", "x = 1 + y")
        self.check(result)
        self.assertIn("Assign", result.stdout)

    PROGRAM = "x = np.arange(1000.0)\nprint((x * 2 + 1).sum())"

    def test_emit_graph(self):
        result = run("--emit=graph", "-c", self.PROGRAM)
        self.check(result)
        self.assertIn("reduce", result.stdout.lower())
        self.assertNotIn("1000000.0", result.stdout)  # the script's own output is left out

    def test_emit_loops(self):
        final = run("--emit=loops", "-c", self.PROGRAM)
        self.check(final)
        self.assertIn("kernel", final.stdout)
        first = run("--emit=loops", "--after=input", "-c", self.PROGRAM)
        self.check(first)
        self.assertIn("kernel", first.stdout)

    def test_emit_llvm(self):
        result = run("--emit=llvm", "-c", self.PROGRAM)
        self.check(result)
        self.assertRegex(result.stdout, r"(?m)^define ")

    def test_emit_asm(self):
        result = run("--emit=asm", "-c", self.PROGRAM)
        self.check(result)
        self.assertRegex(result.stdout, r"(?m)^\s+ret")

    def test_emit_of_nothing(self):
        self.check(run("--emit=llvm", "-c", "print(1)"), out="", err="nothing to emit")

    def test_explain_of_the_main_job(self):
        """At a smaller size: one kernel that computes a quarter of the numbers."""
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "examples", "two_terabytes.gsl"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("size=(500000, 500000)", text)
        result = run("--explain", self.script(text.replace("size=(500000, 500000)", "size=(4000, 4000)")))
        self.assertRegex(result.stdout, r"^0\.128\n4\d{7}\.\d+\n$")
        self.assertEqual(result.stderr.count("plan "), 1)
        self.assertIn("plan 1: 1 kernel\n", result.stderr)
        self.assertRegex(result.stderr, r"elements +4\.00 M\n +reads +0 B\n +writes +8 B")

    def test_explain(self):
        result = run("--explain", "-c", self.PROGRAM)
        self.assertEqual(result.stdout, "1000000.0\n")
        self.assertIn("1 kernel\n", result.stderr)
        self.assertRegex(result.stderr, r"stored +\S")
        self.assertRegex(result.stderr, r"elements +1.00 K")

    def test_explain_of_frames(self):
        """What an operator waited for stands below it; rules are named where they fired, and nowhere with all of them off."""
        text = """
import pandas as pd
n = 1000
df = pd.DataFrame({'k': np.arange(n) % 7, 'x': np.arange(n) % 10, 'y': np.arange(n) * 1.0})
print(df[df.x > LEAST].groupby('k').y.mean().sum().round())
print(df.sort_values('y', ascending=False).x.head(3).tolist())
"""
        most, few = (run("--explain", "-c", text.replace("LEAST", least)) for least in "08")
        self.assertEqual((most.stdout, few.stdout), ("3500.0\n[9, 8, 7]\n", "3528.0\n[9, 8, 7]\n"))
        self.assertRegex(most.stderr, r"(?m)^group by 1 key: 1.00 K rows → 7, .*, on the host, by the rule filter_into_operator\n  plan \d+: 1 kernel\n    map$")
        self.assertRegex(few.stderr, r"(?m)^group by 1 key: 100 rows → 7, [\d.]+ .s, on the host\n(  .*\n)*  gather 1 column: 1.00 K rows → 100, ")
        self.assertRegex(few.stderr, r"(?m)^first rows 1 key: .*, by the rule top_n$")
        off = run("--explain", "-c", text.replace("LEAST", "0"), GASELL_RULES="0")
        self.assertEqual(off.stdout, most.stdout)
        self.assertNotIn("by the rule", off.stderr)


class Interrupting(CommandTest):
    def interrupt(self, text, after=0.5):
        process = subprocess.Popen([GASELL, "-c", f"print('go', flush=True)\n{text}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
        self.assertEqual(process.stdout.readline(), "go\n")
        time.sleep(after)
        self.assertIsNone(process.poll(), "the computation ended before it could be interrupted")
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        elapsed = time.monotonic() - start
        self.assertEqual((process.returncode, errors), (130, "KeyboardInterrupt\n"))
        self.assertLess(elapsed, INTERRUPT_LIMIT)
        print(f"interrupted after {elapsed * 1000:.0f} ms")

    def test_array_computation(self):
        self.interrupt("print(np.sin(da.random.RandomState(1).normal(size=(1000000, 1000000))).sum())", after=2)  # long enough for a progress line, were this a terminal

    def test_interpreted_loop(self):
        self.interrupt("while True:\n    pass")

    def test_long_loop_of_small_kernels(self):
        self.interrupt("x = np.ones(10)\nwhile True:\n    float(x.sum())")


    def test_modules(self):
        self.script("import sys\nprint(__name__, sys.argv[1:])\n", "tool.gsl")
        os.makedirs(os.path.join(self.folder, "kit", "parts"))
        self.script("import sys\nprint('kit', len(sys.argv))\n", "kit/__main__.gsl")
        self.script("print('part')\n", "kit/parts/one.gsl")
        self.check(run("-m", "tool", "--x", "1", GASELL_PATH=self.folder), out="__main__ ['--x', '1']\n")
        self.check(run("-m", "kit", GASELL_PATH=self.folder), out="kit 1\n")
        self.check(run("-m", "kit.parts.one", GASELL_PATH=self.folder), out="part\n")
        self.check(run("-m", "nosuch.thing"), code=1, out="", err="No module named nosuch.thing")
        self.check(run("-m", "tool", "-c", "1", GASELL_PATH=self.folder), out="__main__ ['-c', '1']\n")


if __name__ == "__main__":
    unittest.main(verbosity=1)
