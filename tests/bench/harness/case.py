"""What a case says. A file under cases/ assigns one to `case`.

The expression is both Gasell's and NumPy's: that is the rule of the language. Peers that need another text get their own."""

import dataclasses
from typing import Any, Callable, Optional

try:
    from numba import prange  # noqa: F401 — for the loops in cases/
except ImportError:
    prange = range


@dataclasses.dataclass
class Case:
    title: str
    size: int  # handed to `inputs`; elements, usually
    inputs: Callable[[int, Any], dict]  # (size, numpy Generator) -> {name: array}; written to .npy and read by every program
    expression: str  # over the inputs' names and np
    # Bytes that must move at least, read and written, and operations, for the floor; of the inputs' sizes when None.
    bytes_read: Optional[int] = None
    bytes_written: Optional[int] = None
    scalar: bool = False  # the result is a number: nothing is stored
    program: Optional[str] = None  # functions with @njit that the expression calls, the same text for all; NumPy runs them as they stand
    gasell: Optional[str] = None  # where Gasell's text differs; SIZE stands for the size in every text
    numpy: Optional[str] = None  # where NumPy's does
    numexpr: Optional[str] = None
    numba: Any = None  # a loop over the inputs, compiled with parallel=True; "expression": the expression itself; None: no row
    jax: Any = "expression"  # a text over np = jax.numpy; None: no row
    tolerance: float = 1e-12  # relative to the largest magnitude of the result
    inner: int = 1  # evaluations in one timing (small arrays)
    mapped: bool = False  # inputs stay in their files: np.memmap for NumPy, np.load's mapping for Gasell
    memory: Optional[str] = None  # gasell --memory
    full_memory: Optional[str] = None  # the same with --full
    check: Optional[Callable[[float, int], bool]] = None  # of a random result and the size; else results are compared with NumPy's
    full_size: Optional[int] = None  # with --full
    full_peers: bool = True  # whether the peers can do the full size
    per_item: Optional[tuple] = None  # (items of a size, "kept number"): the report adds ns an item and core
    note: str = ""


@dataclasses.dataclass
class Commands:
    """Whole processes, timed from start to end: program -> text for its -c."""

    title: str
    commands: dict
    output: str  # what each must print
    repeat: int = 20
    note: str = ""
