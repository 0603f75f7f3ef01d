"""A kernel of Jupyter's whose language is Gasell. `python -m gasell.kernel install` makes it known."""

from __future__ import annotations

from ipykernel.kernelbase import Kernel

import gasell
from gasell import _gasell
from gasell.display import Pictures, Watch, bundle_of
from gasell.session import Session


class GasellKernel(Kernel):
    """Runs cells in one session: completion, inspection, interrupts, tables as text/html, pictures as PNG."""

    implementation = "gasell"
    implementation_version = gasell.__version__
    banner = f"Gasell {gasell.__version__}"
    language_info = {
        "name": "gasell",
        "version": gasell.__version__,
        "mimetype": "text/x-python",
        "file_extension": ".gsl",
        "pygments_lexer": "python3",
        "codemirror_mode": {"name": "python", "version": 3},
    }

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._new_session()

    def _new_session(self):
        self.gasell = Session()
        self.gasell._set_streams(self._write, self._read_line)
        self.pictures = Pictures(self.gasell, self._display)
        self._silent = False
        self._may_ask = False

    def _write(self, text):
        if not self._silent:
            self.send_response(self.iopub_socket, "stream", {"name": "stdout", "text": text})

    def _display(self, bundle):
        if not self._silent:
            self.send_response(self.iopub_socket, "display_data", {"data": bundle, "metadata": {}})

    def _tell_progress(self, line):
        """A line that is written anew in its place, and erased at the end. From the thread that watches."""
        if not self._silent:
            self.send_response(self.iopub_socket, "stream", {"name": "stderr", "text": f"\r{line}" if line else "\r" + " " * 30 + "\r"})

    def _read_line(self, prompt):
        if not self._may_ask:
            raise EOFError
        return self.raw_input(prompt)

    def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False, *, cell_meta=None, cell_id=None):
        """Runs a cell and shows its last expression's value."""
        self._silent, self._may_ask = silent, allow_stdin
        try:
            self.pictures.before(code)
            with Watch(self.gasell.engine, self._tell_progress):
                value = self.gasell._evaluate(code, f"<cell {self.execution_count}>", True)
                shown = value is not None and not silent and not code.rstrip().endswith(";")
                bundle = bundle_of(value) if shown else None  # computes what is lazy
            if value is not None:
                self.gasell._bind("_", value)
            self.pictures.show()
        except (gasell.Error, KeyboardInterrupt) as error:
            return self._failed(error, silent)
        except SystemExit:
            return {"status": "ok", "execution_count": self.execution_count, "payload": [{"source": "ask_exit", "keepkernel": False}],
                    "user_expressions": {}}
        if bundle is not None:
            self.send_response(self.iopub_socket, "execute_result",
                               {"execution_count": self.execution_count, "data": bundle, "metadata": {}})
        return {"status": "ok", "execution_count": self.execution_count, "payload": [],
                "user_expressions": {name: self._expression(text) for name, text in (user_expressions or {}).items()}}

    def _failed(self, error, silent):
        interrupted = isinstance(error, KeyboardInterrupt)
        content = {"ename": "KeyboardInterrupt" if interrupted else error.kind, "evalue": str(error),
                   "traceback": ["KeyboardInterrupt"] if interrupted else error.rendered.rstrip().split("\n")}
        if not silent:
            self.send_response(self.iopub_socket, "error", content)
        return {"status": "error", "execution_count": self.execution_count, **content}

    def _expression(self, text):
        try:
            return {"status": "ok", "data": bundle_of(self.gasell._evaluate(text, "<expression>", True)), "metadata": {}}
        except gasell.Error as error:
            return {"status": "error", "ename": error.kind, "evalue": str(error), "traceback": error.rendered.rstrip().split("\n")}

    def do_complete(self, code, cursor_pos):
        """What can stand at the cursor."""
        start, candidates = self.gasell.complete(code, cursor_pos)
        return {"status": "ok", "matches": candidates, "cursor_start": start, "cursor_end": cursor_pos, "metadata": {}}

    def do_inspect(self, code, cursor_pos, detail_level=0, omit_sections=()):
        """Type, signature and description of what is at the cursor."""
        text = self.gasell.inspect(code, cursor_pos, detail=detail_level > 0)
        return {"status": "ok", "found": bool(text), "data": {"text/plain": text} if text else {}, "metadata": {}}

    def do_is_complete(self, code):
        """Whether a cell may run as it is."""
        answer = _gasell.is_complete(code)
        if answer > 0:
            return {"status": "complete"}
        last = code.rstrip("\n").rpartition("\n")[2]
        indent = last[: len(last) - len(last.lstrip())] + ("    " if last.rstrip().endswith(":") else "")
        return {"status": "incomplete", "indent": indent} if answer == 0 else {"status": "invalid"}

    def do_shutdown(self, restart):
        """Ends the kernel, or begins with a new session."""
        if restart:
            self._new_session()
        return {"status": "ok", "restart": restart}
