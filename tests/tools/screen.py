"""What a terminal shows after what was written to it: rows of characters, the cursor, and where text is not plain."""

import fcntl
import os
import re
import select
import struct
import termios
import time
import unicodedata

from terminal import Terminal

SEQUENCE = re.compile(r"\x1b\[([?<=>]?)([0-9;]*) ?([A-Za-z~])|\x1b[=>78]|\x1b\][^\x07]*\x07")


class Screen:
    """An xterm as far as the session uses one. `styles` has the parameters of the last SGR for each cell."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.cells = [[" "] * columns for _ in range(rows)]
        self.styles = [[""] * columns for _ in range(rows)]
        self.row = self.column = 0
        self.style = ""
        self.rest = ""

    def write(self, text):
        text = self.rest + text
        self.rest = ""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                found = SEQUENCE.match(text, at)
                if not found:
                    self.rest = text[at:]
                    return
                self.control(found)
                at = found.end()
                continue
            self.put(text[at])
            at += 1

    def put(self, c):
        if c == "\r":
            self.column = 0
        elif c == "\n":
            self.next_row()
        elif c == "\b":
            self.column = max(min(self.column, self.columns - 1) - 1, 0)
        elif c >= " ":
            width = 0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
            if width == 0:
                self.cells[self.row][self.column - 1] += c
                return
            if self.column + width > self.columns:
                self.column = 0
                self.next_row()
            for k in range(width):
                self.cells[self.row][self.column + k] = "" if k else c
                self.styles[self.row][self.column + k] = self.style
            self.column += width

    def next_row(self):
        self.row += 1
        if self.row == self.rows:
            self.cells = self.cells[1:] + [[" "] * self.columns]
            self.styles = self.styles[1:] + [[""] * self.columns]
            self.row -= 1

    def erase(self, row, begin):
        for column in range(begin, self.columns):
            self.cells[row][column], self.styles[row][column] = " ", ""

    def control(self, found):
        private, parameters, last = found.groups()
        if private or not last or last == "q":  # the cursor's shape
            return
        numbers = [int(n or 0) for n in parameters.split(";")]
        count = max(numbers[0], 1)
        column = min(self.column, self.columns - 1)
        if last == "A":
            self.row = max(self.row - count, 0)
        elif last == "B":
            self.row = min(self.row + count, self.rows - 1)
        elif last == "C":
            self.column = min(column + count, self.columns - 1)
        elif last == "D":
            self.column = max(column - count, 0)
        elif last == "H":
            self.row = self.column = 0
        elif last == "K":
            self.erase(self.row, column)
        elif last == "J":
            self.erase(self.row, 0 if numbers[0] == 2 else column)
            for row in range(0 if numbers[0] == 2 else self.row + 1, self.rows):
                self.erase(row, 0)
        elif last == "m":
            self.style = parameters.removeprefix("0;") if parameters not in ("", "0") else ""

    def lines(self):
        """The rows without blanks at their ends, up to the last that holds something or has the cursor."""
        rows = ["".join(row).rstrip() for row in self.cells]
        last = max([self.row] + [i for i, row in enumerate(rows) if row])
        return rows[: last + 1]


class ScreenTerminal(Terminal):
    """A session whose screen is looked at."""

    def __init__(self, *arguments, columns=80, rows=24, **changes):
        super().__init__(*arguments, rows=rows, columns=columns, **changes)
        self.screen = Screen(columns, rows)

    def read_some(self, timeout):
        if not select.select([self.fd], [], [], timeout)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.screen.write(data.decode("utf-8", "replace"))
        return bool(data)

    def until(self, holds, timeout=20.0):
        """Reads until `holds(screen)`; its last value."""
        deadline = time.monotonic() + timeout
        while True:
            value = holds(self.screen)
            if value or time.monotonic() > deadline:
                return value
            self.read_some(0.05)

    def press(self, *keys):
        """Each as a person's key: the session has drawn before the next comes."""
        for key in keys:
            self.send(key)
            self.settle()

    def settle(self, quiet=0.03):
        while self.read_some(quiet):
            pass

    def resize(self, columns, rows):
        self.screen = Screen(columns, rows)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
