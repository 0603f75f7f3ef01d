"""Engines and sessions."""

from __future__ import annotations

import json
import os
import sys
import threading

from . import _gasell

_lock = threading.RLock()
_default_engine: Engine | None = None
_default_session: Session | None = None


class Engine(_gasell.Engine):
    """What sessions share: cores or GPUs, memory, compiled code.

    threads: cores to use (0: all); memory: bytes that arrays may take (0: three quarters of the machine's); device: "auto", "cpu", "gpu",
    "gpu:0,2", "sim:4"; chunk: elements a task works on, at most; fuse, cache, cache_directory: of kernels. What is left out is the
    environment's (GASELL_THREADS, ...), then the default.
    """

    def __new__(cls, *, threads=0, memory=0, device=None, chunk=0, fuse=True, cache=True, cache_directory=None):
        if cache_directory is not None:
            cache_directory = os.fspath(cache_directory)
        return super().__new__(cls, threads=threads, memory=memory, device=device, chunk=chunk, fuse=fuse, cache=cache,
                               cache_directory=cache_directory)


def default_engine() -> Engine:
    """The process's engine, made when it is first wanted."""
    global _default_engine
    with _lock:
        if _default_engine is None:
            _default_engine = Engine()
        return _default_engine


def default_session() -> Session:
    """The session of the arrays and functions that were made without one."""
    global _default_session
    session = _default_session
    if session is None:
        with _lock:
            if _default_session is None:
                _default_session = Session()
            session = _default_session
    return session


def use(engine: Engine) -> None:
    """Makes this engine the process's, and a new session of it the default one; earlier arrays keep theirs."""
    global _default_engine, _default_session
    if not isinstance(engine, Engine):
        raise TypeError(f"use() wants a gasell.Engine, not '{type(engine).__name__}'")
    with _lock:
        _default_engine, _default_session = engine, None


def _forget_after_fork():
    global _default_engine, _default_session, _lock
    # The threads of the engine are not in the child: what was made there stays with the parent, and nothing of it is ended.
    _leaked.extend((_default_engine, _default_session))
    _lock = threading.RLock()
    _default_engine = _default_session = None


_leaked: list = []
os.register_at_fork(after_in_child=_forget_after_fork)


def _write(text):
    sys.stdout.write(text)


def _write_error(text):
    sys.stderr.write(text)


def _read_line(prompt):
    return input(prompt)


class Session(_gasell.Session):
    """Names and what they hold. Calls from several threads wait for each other; sessions of their own run at the same time.

    engine: the process's unless given. sandbox, allow: scripts reach nothing outside but what `allow` grants ("read:FOLDER",
    "write:FOLDER", "env", "clock", "network", "plugins", "unchecked", "raw-code"). memory: bytes of all that it holds; output: bytes printed
    in a call; seconds: of a call; recursion: calls within each other; 0: no limit of its own.
    """

    def __new__(cls, engine=None, *, sandbox=False, allow=(), memory=0, output=0, seconds=0.0, recursion=0):
        session = super().__new__(cls, engine or default_engine(), sandbox=sandbox, allow=tuple(allow), memory=memory, output=output,
                                  seconds=seconds, recursion=recursion)
        session._set_streams(_write, _write_error, None if sandbox else _read_line)
        return session

    def evaluate(self, text, /, *, source_name="<python>", **names):
        """Runs a text, with these names bound before, and gives the value of its last statement where that is an expression, else None.

        source_name: what errors call the text. Arrays are bound over their memory, without a copy; frames of pandas, Polars and pyarrow through Arrow's streams. Numbers, texts,
        lists, tuples, dicts and sets come back as Python's own, others as gasell.Array, DataFrame, Series, Function, Object.
        Raises gasell.Error (a ValueError is a ValueError, too), KeyboardInterrupt, SystemExit.
        """
        for name, value in names.items():
            self._bind(name, value)
        return self._evaluate(text, source_name)

    def __getitem__(self, name):
        """The value of a global name; KeyError where there is none."""
        from .errors import error_class

        try:
            return self._get(name)
        except error_class("NameError"):
            raise KeyError(name) from None

    def __setitem__(self, name, value):
        """Binds a name, as evaluate does."""
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"{name!r} is no name")
        self._bind(name, value)

    def cancel(self, flag=True):
        """What runs ends, and so do the calls that begin from then on, until cancel(False)."""
        self._set_cancelled(flag)

    def set_seconds(self, seconds):
        """Seconds that each of the following calls may take; 0: no limit."""
        self._set_seconds(seconds)

    def set_output(self, write):
        """What scripts print goes to write(text) instead of sys.stdout."""
        if not callable(write):
            raise TypeError("set_output() wants a callable")
        self._set_streams(write, None, None)

    def set_error_output(self, write):
        """What scripts write to sys.stderr, and what warns, goes to write(text) instead of Python's sys.stderr."""
        if not callable(write):
            raise TypeError("set_error_output() wants a callable")
        self._set_streams(None, write, None)

    def set_log(self, log, level=20):
        """What the engine says of itself while it works for this session, from this level of logging's on, goes to log(level, text): 30, GPUs
        that were lost; 20, calls that a limit or cancel() ended; 10, each kernel that ran, with its time. None: to nobody."""
        if log is not None and not callable(log):
            raise TypeError("set_log() wants a callable, as logging.getLogger('gasell').log, or None")
        self._set_log(log, level)

    def asarray(self, data, dtype=None):
        """An array of this session: over the memory of what has one (NumPy, buffers, DLPack), else of numbers and lists of them."""
        from .array import asarray_in

        return asarray_in(self, data, dtype)

    def complete(self, text, cursor=None):
        """What can stand at the cursor (an index; the end of the text unless given): (start, candidates), for text[start:cursor]."""
        cursor = len(text) if cursor is None else cursor
        told = json.loads(self._complete(text, len(text[:cursor].encode())))
        return len(text.encode()[: told["begin"]].decode()), [each + told["closing"] for each in told["candidates"]]

    def inspect(self, text, cursor=None, *, detail=False):
        """What is known of the expression at the cursor: type, signature, description; with detail, a function's text. "" where nothing."""
        cursor = len(text) if cursor is None else cursor
        return self._inspect(text, len(text[:cursor].encode()), detail)

    def __reduce__(self):
        raise TypeError("a gasell.Session cannot be pickled: it holds memory and code of this process")
