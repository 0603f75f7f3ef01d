"""%load_ext gasell: cells and lines of Gasell in a notebook of Python."""

from __future__ import annotations

import ast
import builtins
import sys
import types

from .array import Array
from .display import Pictures, Watch
from .errors import Error
from .frame import DataFrame, Series
from .session import Session, default_session


def _names(text):
    """The names that a text reads and those that it binds at its top level."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # the session says what is wrong
        return set(), set()
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    bound = set()

    def visit(node):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
            return
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(tree)
    augmented = {node.target.id for node in ast.walk(tree) if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)}
    return read | augmented, bound


def _is_shared(value):
    """Whether a variable of the notebook goes to the session: modules and classes stay where they are."""
    return not isinstance(value, (types.ModuleType, type))


class Extension:
    """The magics of one notebook, over the default session."""

    def __init__(self, shell, session: Session):
        self.shell = shell
        self.session = session
        self.pictures = Pictures(session, self._display)

    def run(self, text, source):
        """Runs a text with the notebook's variables, and gives them back what it binds."""
        read, bound = _names(text)
        variables = self.shell.user_ns
        for name in sorted(read):
            if name in variables and not name.startswith("_") and not hasattr(builtins, name) and _is_shared(variables[name]):
                self.session[name] = variables[name]
        self.pictures.before(text)
        try:
            with Watch(self.session.engine, self._tell_progress):
                value = self.session.evaluate(text, source_name=source)
                return value.compute() if isinstance(value, (Array, DataFrame, Series)) else value
        finally:
            for name in sorted(bound):
                try:
                    variables[name] = self.session[name]
                except KeyError:  # an error came first
                    pass
            self.pictures.show()

    @staticmethod
    def _tell_progress(line):
        sys.stderr.write(f"\r{line}" if line else "\r" + " " * 30 + "\r")
        sys.stderr.flush()

    @staticmethod
    def _display(bundle):
        from IPython.display import display

        display(bundle, raw=True)

    def line(self, line):
        """%gasell EXPRESSION: runs a line of Gasell."""
        return self.run(line, "<line>")

    def cell(self, line, cell):
        """%%gasell: runs the cell in Gasell. Variables of the notebook that it reads are bound before; what it binds is a variable behind."""
        if line.strip():
            raise ValueError(f"%%gasell takes nothing behind it, not {line.strip()!r}")
        return self.run(cell, f"<cell {self.shell.execution_count}>")


def load(shell):
    """Registers %gasell, %%gasell, how arrays and frames are shown, and how errors of Gasell's are."""
    extension = Extension(shell, default_session())
    shell.register_magic_function(extension.line, "line", "gasell")
    shell.register_magic_function(lambda line, cell: extension.cell(line, cell), "cell", "gasell")
    shell.set_custom_exc((Error,), _show_error)


def _show_error(shell, kind, error, trace, tb_offset=None):
    """What a cell of Gasell got wrong: its place, without Python's calls. In Python's own cells the traceback comes first."""
    if error.source.startswith(("<cell", "<line")):
        lines = [error.rendered.rstrip()]
    else:
        lines = shell.InteractiveTB.structured_traceback(kind, error, trace, tb_offset=tb_offset)
    shell._showtraceback(kind, error, lines)
    return lines


def unload(shell):
    """Takes the magics away."""
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("gasell", None)
    shell.set_custom_exc((), None)
