"""python -m gasell doctor"""

from __future__ import annotations

import sys

from .doctor import run

USAGE = """usage: python -m gasell doctor

doctor    what this package is made of, what it found, and whether it computes

python -m gasell.kernel install makes Gasell a kernel of Jupyter's.
"""


def main(arguments):
    """The command; gives the exit status."""
    if arguments == ["doctor"]:
        return run()
    if arguments in (["-h"], ["--help"]):
        print(USAGE, end="")
        return 0
    print(USAGE, end="", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
