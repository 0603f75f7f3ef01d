"""python -m gasell doctor; python -m gasell cluster SCRIPT"""

from __future__ import annotations

import sys

from .doctor import run

USAGE = """usage: python -m gasell doctor
       python -m gasell cluster SCRIPT

doctor    what this package is made of, what it found, and whether it computes
cluster   runs a script of Gasell; what follows Client("tcp://...") in it, on that cluster of Dask, as gasell.dask.compute does

python -m gasell.kernel install makes Gasell a kernel of Jupyter's.
"""


def on_cluster(path):
    """Runs a script as the command does, in tasks; gives the exit status."""
    from .errors import Error

    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        print(f"gasell: cannot read {path}: {error.strerror}", file=sys.stderr)
        return 2
    from .cuts import Program

    try:
        Program(None, {}, path).run(text)
    except Error as error:
        print(error.rendered or f"{error.kind}: {error}", file=sys.stderr)
        return 1
    except SystemExit as end:
        return end.code
    return 0


def main(arguments):
    """The command; gives the exit status."""
    if arguments == ["doctor"]:
        return run()
    if len(arguments) == 2 and arguments[0] == "cluster":
        return on_cluster(arguments[1])
    if arguments in (["-h"], ["--help"]):
        print(USAGE, end="")
        return 0
    print(USAGE, end="", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
