"""Code in colour, by the lexer that editors/pygments has."""

import html
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "editors" / "pygments"))

import pygments  # noqa: E402
from gasell_lexer import GasellLexer  # noqa: E402
from pygments.formatters import HtmlFormatter  # noqa: E402
from pygments.lexers import get_lexer_by_name  # noqa: E402
from pygments.util import ClassNotFound  # noqa: E402

LIGHT, DARK = "default", "github-dark"
BY_ENDING = {".gsl": "gasell", ".py": "python", ".sh": "sh", ".c": "c", ".h": "cpp", ".hpp": "cpp", ".cpp": "cpp", ".json": "json", ".cmake": "cmake"}


def lexer_for(file_name):
    return BY_ENDING.get(Path(file_name).suffix, "text")


def highlighted(code, language):
    if language in ("python", "py", "gasell", "gsl"):
        lexer = GasellLexer(stripnl=False)
    else:
        try:
            lexer = get_lexer_by_name(language or "text", stripnl=False)
        except ClassNotFound:
            lexer = get_lexer_by_name("text", stripnl=False)
    return pygments.highlight(code, lexer, HtmlFormatter(nowrap=True))


def console(text):
    """A session's text: prompts, what stands behind them in colour, and what is shown."""
    parts, entry = [], []

    def finish():
        if entry:
            lines = highlighted("\n".join(line for _, line in entry) + "\n", "gasell").split("\n")
            parts.extend(f'<span class="prompt">{html.escape(prompt)}</span>{line}\n' for (prompt, _), line in zip(entry, lines))
            entry.clear()

    for line in text.rstrip("\n").split("\n"):
        if line.startswith(">>> "):
            finish()
            entry.append((">>> ", line[4:]))
        elif entry and (line.startswith("... ") or line == "..."):
            entry.append(("... ", line[4:]))
        else:
            finish()
            parts.append(f'<span class="shown">{html.escape(line)}</span>\n')
    finish()
    return "".join(parts)


def styles():
    """The colours of tokens, for light and for dark pages."""
    dark = HtmlFormatter(style=DARK).get_style_defs
    lines = HtmlFormatter(style=LIGHT).get_style_defs(".code").split("\n")
    lines = [line for line in lines if line.startswith(".code .")]
    inner = [line for line in dark(".code").split("\n") if line.startswith(".code .")]
    at_dark = [':root[data-theme="dark"] ' + line for line in inner]
    by_system = [':root:not([data-theme="light"]) ' + line for line in inner]
    return "\n".join([*lines, *at_dark, "@media (prefers-color-scheme: dark) {", *by_system, "}"]) + "\n"
