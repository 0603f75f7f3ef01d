"""How values and pictures are shown by a notebook."""

from __future__ import annotations

import base64
import os
import re
import tempfile
import threading

from . import _gasell
from .frame import DataFrame

_operate = _gasell.operate
_DRAWS = re.compile(r"\b(plt|pyplot|matplotlib|plot|hist|boxplot)\b")


def text_of(value):
    """repr() of a value as the language writes it."""
    return repr(value)


def bundle_of(value):
    """A value by media types: text/plain, and text/html of frames."""
    data = {"text/plain": text_of(value)}
    if isinstance(value, DataFrame):
        data["text/html"] = value._repr_html_()
    return data


def progress_line(fraction):
    """A line for a part that is done: "[########------------]  42 %"."""
    done = int(20 * fraction)
    return f"[{'#' * done}{'-' * (20 - done)}] {fraction:4.0%}"


class Watch:
    """Tells how far an engine's computation is, while it is entered: tell(text) after a second and then as it goes on, tell(None) at the end."""

    def __init__(self, engine, tell):
        self._engine = engine
        self._tell = tell
        self._done = threading.Event()

    def __enter__(self):
        self._engine.progress  # begins to look
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._done.set()
        self._thread.join()

    def _look(self):
        told = None
        wait = 1.0
        while not self._done.wait(wait):
            wait = 0.25
            fraction = self._engine.progress
            if fraction is not None and progress_line(fraction) != told:
                told = progress_line(fraction)
                self._tell(told)
        if told is not None:
            self._tell(None)


class Pictures:
    """The open figures of a session, shown and closed by plt.show() and behind each cell, as Matplotlib's inline backend does.

    display: is called with a bundle for each.
    """

    def __init__(self, session, display, format="png"):
        self._session = session
        self._display = display
        self._format = format
        self._drew = False

    def before(self, text):
        """To be told of each cell before it runs, since a session knows no notebook: from the first drawing on, plt.show() shows here."""
        if not self._drew and _DRAWS.search(text):
            self._drew = True
            _operate(self._session, "lambda show: setattr(plt, 'show', show)", self._shown)

    def _shown(self, *, block=None):
        self.show()

    def show(self):
        """Shows the open figures, which are closed by it."""
        if not self._drew:
            return
        for number in _operate(self._session, "lambda: list(plt.get_fignums())"):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "figure." + self._format)
                _operate(self._session, "lambda number, path: plt.figure(number).savefig(path)", number, path)
                with open(path, "rb") as file:
                    data = file.read()
            self._display({"image/svg+xml": data.decode()} if self._format == "svg" else {"image/png": base64.b64encode(data).decode()})
        _operate(self._session, "lambda: plt.close('all')")
