"""Standard files that are closed or full: never an abort, and the exit status tells."""

import os
import signal
import subprocess
import time
import unittest

from support import GASELL, CommandTest, environment

FULL, CLOSED, KEPT = "/dev/full", None, subprocess.DEVNULL


def run_with(arguments, **files):
    """The exit status with stdin, stdout, stderr each kept, closed or full; and what was captured of those that are pipes."""

    def prepare():  # in the child, after its files were put in place
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            if files.get(name, KEPT) is CLOSED:
                os.close(number)

    opened = {name: open(FULL, "w") if to == FULL else to for name, to in files.items() if to is not CLOSED}
    try:
        done = subprocess.run([GASELL, *arguments], preexec_fn=prepare, timeout=60, env=environment(), text=True, **{"stdin": KEPT, **opened})
    finally:
        for file in opened.values():
            if hasattr(file, "close"):
                file.close()
    return done


class Streams(CommandTest):
    def setUp(self):
        super().setUp()
        self.right = self.script("print(np.arange(100000.0).sum())\n", "right.gsl")
        self.wrong = self.script("import sys\nsys.stderr.write('a warning')\nx = 1 / 0\n", "wrong.gsl")
        self.printing = self.script("@njit\ndef f(n):\n    for k in range(n):\n        print(k)\nf(100000)\n", "printing.gsl")

    def test_errors_that_nobody_can_read(self):
        commands = {(self.right,): 0, (self.wrong,): 1, ("--explain", self.right): 0, ("--profile", self.right): 0, ("--emit=loops", self.wrong): 1,
                    ("--trace", "/nonexistent/t.json", self.right): 0, ("-c", "import"): 1, ("-c", "raise SystemExit('no')"): 1, ("--json-errors", self.wrong): 1,
                    ("/nonexistent.gsl",): 2, ("--unheard-of",): 2, ("doctor",): 0, ("--help",): 0, ("check", self.wrong): 0}
        for arguments, status in commands.items():
            for to in (FULL, CLOSED):
                with self.subTest(arguments=arguments, stderr=to):
                    self.assertEqual(run_with(arguments, stdout=KEPT, stderr=to).returncode, status)

    def test_output_that_goes_nowhere(self):
        for arguments in ((self.right,), (self.printing,), ("--help",), ("--version",), ("doctor",), ("--explain", self.right), ("--emit=loops", self.right), ("--emit=ast", self.right)):
            for to, number in ((FULL, 28), (CLOSED, 9)):
                with self.subTest(arguments=arguments, stdout=to):
                    done = run_with(arguments, stdout=to, stderr=subprocess.PIPE)
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertIn("OSError: [Errno ", done.stderr)
                    if arguments != (self.printing,):
                        self.assertIn(f"OSError: [Errno {number}]", done.stderr)
                    self.assertIn("while writing the output", done.stderr)
                    self.assertEqual(run_with(arguments, stdout=to, stderr=to).returncode, 1)

    def test_no_file_of_the_script_takes_the_place_of_a_closed_one(self):
        target = os.path.join(self.folder, "data.txt")
        script = self.script(f"with open({target!r}, 'w') as f:\n    f.write('data')\n    print('printed' * 10000)\n    x = 1 / 0\n", "data.gsl")
        for closed in ({"stdout": CLOSED}, {"stderr": CLOSED}, {"stdin": CLOSED, "stdout": CLOSED, "stderr": CLOSED}):
            with self.subTest(closed=sorted(closed)):
                self.assertEqual(run_with([script], **{"stdout": KEPT, "stderr": KEPT, **closed}).returncode, 1)
                with open(target, encoding="utf-8") as file:
                    self.assertEqual(file.read(), "data")

    def test_a_crash_flushes_and_names_the_line(self):
        script = self.script("import time\nprint('printed before')\ndef work():\n    time.sleep(60)\nwork()\n", "crash.gsl")
        for number, name in ((signal.SIGSEGV, "segmentation fault"), (signal.SIGABRT, "abort"), (signal.SIGFPE, "arithmetic exception")):
            process = subprocess.Popen([GASELL, script], stdin=KEPT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True)
            self.wait_for_script(process)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            if "Sanitizer" in err:
                self.skipTest("sanitizers say more")
            self.assertEqual((process.returncode, out), (134, "printed before\n"))
            self.assertRegex(err, rf"^gasell: internal error: {name} in .*crash.gsl, line 4 \(Gasell [0-9.]+\); please report it with the script\n$")

    def wait_for_script(self, process):
        """Until the script sleeps: a thread of the process waits for a clock."""
        for _ in range(600):
            threads = f"/proc/{process.pid}/task"
            for thread in os.listdir(threads):
                with open(f"{threads}/{thread}/wchan", encoding="ascii") as file:
                    if "nanosleep" in file.read():
                        return
            time.sleep(0.05)


if __name__ == "__main__":
    unittest.main()
