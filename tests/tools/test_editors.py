"""What editors/ holds: the grammar's patterns, the extension's files, and the lexer of Pygments where that is installed."""

import importlib.util
import json
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VSCODE = ROOT / "editors" / "vscode"


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


class Extension(unittest.TestCase):
    def test_files_that_are_named_are_there(self):
        package = load(VSCODE / "package.json")
        self.assertTrue((VSCODE / package["main"]).is_file())
        for language in package["contributes"]["languages"]:
            self.assertTrue((VSCODE / language["configuration"]).is_file())
            self.assertIn(".gsl", language["extensions"])
        for grammar in package["contributes"]["grammars"]:
            self.assertEqual(load(VSCODE / grammar["path"])["scopeName"], grammar["scopeName"])

    def test_commands_are_registered(self):
        client = (VSCODE / "client.js").read_text(encoding="utf-8")
        for command in load(VSCODE / "package.json")["contributes"]["commands"]:
            self.assertIn(f'registerCommand("{command["command"]}"', client)

    def test_grammar(self):
        grammar = load(VSCODE / "syntaxes" / "gasell.tmLanguage.json")
        repository = grammar["repository"]
        seen = []

        def walk(node):
            if isinstance(node, list):
                for one in node:
                    walk(one)
            elif isinstance(node, dict):
                if "include" in node:
                    self.assertIn(node["include"].removeprefix("#"), repository)
                for key in ("match", "begin", "end"):
                    if key in node:
                        seen.append(node[key])
                        # Python's re has no \p{…}; the rest of these patterns it has.
                        re.compile(node[key].replace(r"\p{L}", "a-zA-Z").replace(r"\p{N}", "0-9"))
                for one in node.values():
                    walk(one)

        walk(grammar)
        self.assertGreater(len(seen), 30)


@unittest.skipUnless(importlib.util.find_spec("pygments"), "Pygments is not installed")
class Pygments(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.path.insert(0, str(ROOT / "editors" / "pygments"))
        import gasell_lexer

        cls.lexer = gasell_lexer.GasellLexer()

    def tokens(self, text):
        return [(str(token), value) for token, value in self.lexer.get_tokens(text) if value.strip()]

    def test_names(self):
        self.assertEqual(self.tokens("np.sum(x.np)")[0], ("Token.Name.Namespace", "np"))
        self.assertNotIn(("Token.Name.Namespace", "np"), self.tokens("x.np"))
        self.assertIn(("Token.Name", "await"), self.tokens("await = 1"))

    def test_no_errors_in_the_library(self):
        for path in sorted((ROOT / "stdlib" / "numpy").glob("*.gsl"))[:20]:
            text = path.read_text(encoding="utf-8")
            self.assertEqual("".join(value for _, _, value in self.lexer.get_tokens_unprocessed(text)), text)
            self.assertNotIn("Token.Error", {token for token, _ in self.tokens(text)}, path)


if __name__ == "__main__":
    unittest.main()
