"""A lexer of Gasell for Pygments: `pygmentize -x -l gasell_lexer.py:GasellLexer FILE.gsl`, or as a plugin by the entry point of pyproject.toml."""

from pygments.lexers.python import PythonLexer
from pygments.token import Keyword, Name

__all__ = ["GasellLexer"]

# Bound without import.
MODULES = ("np", "cp", "da", "pd", "cudf", "dd", "plt", "numba", "cuda", "math")
FUNCTIONS = ("jit", "njit", "prange", "stencil", "vectorize", "guvectorize", "device")
# Python's, not Gasell's.
REFUSED = ("async", "await")


class GasellLexer(PythonLexer):
    """Gasell's text is a subset of Python's; what is bound without import is told apart, and what Gasell refuses is no keyword."""

    name = "Gasell"
    aliases = ["gasell", "gsl"]
    filenames = ["*.gsl"]
    mimetypes = ["text/x-gasell"]
    url = None
    version_added = ""

    def get_tokens_unprocessed(self, text):
        after_dot = False
        for index, token, value in PythonLexer.get_tokens_unprocessed(self, text):
            if token in Keyword and value in REFUSED:
                token = Name
            elif token is Name and not after_dot and value in MODULES:
                token = Name.Namespace
            elif token is Name and not after_dot and value in FUNCTIONS:
                token = Name.Builtin
            after_dot = value == "."
            yield index, token, value

    @staticmethod
    def analyse_text(text):
        return 1.0 if text.startswith("#!") and "gasell" in text.partition("\n")[0] else 0.0
