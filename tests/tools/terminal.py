"""A gasell on a pseudo-terminal, driven as a person would."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from support import GASELL, environment

PROMPT, MORE = ">>> ", "... "


class Terminal:
    """A gasell on a terminal of its own. `expect` waits for a text in what it shows, escape sequences removed."""

    def __init__(self, *arguments, cwd=None, rows=40, columns=400, **changes):  # wide: no line wraps
        self.process, self.fd = pty.fork()
        if self.process == 0:
            if cwd:
                os.chdir(cwd)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execve(GASELL, [GASELL, *arguments], environment(**changes))
        self.shown = ""
        self.seen = 0

    def read_some(self, timeout):
        ready, _, _ = select.select([self.fd], [], [], timeout)
        if not ready:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        if not data:
            return False
        self.shown += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r", "", data.decode("utf-8", "replace"))
        return True

    def expect(self, text, timeout=20.0):
        """What was shown up to `text`, since the last expect."""
        deadline = time.monotonic() + timeout
        while True:
            at = self.shown.find(text, self.seen)
            if at >= 0:
                before = self.shown[self.seen : at]
                self.seen = at + len(text)
                return before
            if time.monotonic() > deadline:
                raise AssertionError(f"{text!r} did not come; shown since: {self.shown[self.seen:]!r}")
            self.read_some(0.1)

    def send(self, text):
        os.write(self.fd, text.encode())

    def enter(self, line, then=PROMPT, timeout=20.0):
        """Types a line, gives back what is shown until the next prompt, without the echo."""
        self.send(line + "\n")
        return self.expect(then, timeout).split("\n", 1)[-1]

    def close(self):
        """The exit status; ends the process when it does not end itself."""
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            self.read_some(0.05)
            pid, status = os.waitpid(self.process, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.fd)
        raise AssertionError(f"the session did not end; shown: {self.shown[-500:]!r}")

    def end(self):
        """Ends the process, if it is there."""
        try:
            if os.waitpid(self.process, os.WNOHANG)[0] == 0:
                os.kill(self.process, signal.SIGKILL)
                os.waitpid(self.process, 0)
        except ChildProcessError:
            pass
