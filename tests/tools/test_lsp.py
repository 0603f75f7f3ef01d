"""`gasell lsp`, driven by a scripted client."""

import json
import os
import random
import time
import unittest

from language_client import Client
from support import CommandTest

SCRIPT = '''import numpy as np
from math import sqrt as root


def scale(values, factor=2.0):
    """Values times a factor."""
    total = 0
    for v in values:
        total += v * factor
    return total


class Point:
    size = 2

    def norm(self, power):
        return root(self.size ** power)


x = np.arange(10)
y = scale(x, factor=3)
print(y, [v for v in x])
'''


class LanguageServerTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.client = Client(self.folder)
        self.addCleanup(self.client.__exit__)

    def opened(self, text=SCRIPT, **more):
        self.client.initialize()
        return self.client.open(text, **more)


class Session(LanguageServerTest):
    def test_begins_and_ends(self):
        result = self.client.initialize()
        self.assertEqual(result["serverInfo"]["name"], "gasell")
        self.assertEqual(result["capabilities"]["positionEncoding"], "utf-16")
        self.assertIsNone(self.client.request("shutdown"))
        self.assertEqual(self.client.answer("textDocument/hover")["error"]["code"], -32600)
        self.client.notify("exit")
        self.assertEqual(self.client.process.wait(10), 0)

    def test_exit_without_shutdown(self):
        self.client.initialize()
        self.client.notify("exit")
        self.assertEqual(self.client.process.wait(10), 1)

    def test_end_of_input(self):
        self.client.initialize()
        self.client.process.stdin.close()
        self.assertEqual(self.client.process.wait(10), 1)

    def test_before_initialize(self):
        self.assertEqual(self.client.answer("textDocument/hover")["error"]["code"], -32002)

    def test_unknown_method_and_document(self):
        self.client.initialize()
        self.assertEqual(self.client.answer("textDocument/unheardOf")["error"]["code"], -32601)
        params = {"textDocument": {"uri": "file:///not/open.gsl"}, "position": {"line": 0, "character": 0}}
        self.assertEqual(self.client.answer("textDocument/hover", params)["error"]["code"], -32602)
        self.assertEqual(self.client.answer("textDocument/hover", {"textDocument": 3})["error"]["code"], -32602)


class Diagnostics(LanguageServerTest):
    def test_as_one_types(self):
        document = self.opened("x = 1\nprint(x)\n")
        self.assertEqual(document.diagnostics(), [])
        document.replace("print(x)", "print(x")
        found = document.diagnostics()
        self.assertEqual([(d["message"], d["severity"], document.slice(d["range"])) for d in found], [("'(' was never closed", 1, "(")])
        document.replace("print(x", "print(x)")
        self.assertEqual(document.diagnostics(), [])

    def test_what_check_finds(self):
        document = self.opened("import re\n\n\ndef f(a):\n    return a\n    print(a)\n\n\nprint(f(1, 2), nowhere)\n")
        found = document.diagnostics()
        self.assertEqual(
            [(d["code"], d["severity"], document.slice(d["range"]), d.get("tags")) for d in found],
            [("unused-import", 2, "re", [1]), ("unreachable", 2, "print(a)", [1]), ("call", 1, "f(1, 2)", None), ("name", 1, "nowhere", None)],
        )

    def test_soon(self):
        document = self.opened("x = (\n")
        document.diagnostics()
        begin = time.monotonic()
        document.replace("(", "(1)")
        document.diagnostics()
        self.assertLess(time.monotonic() - begin, 5.0)  # 0.1 on a machine that is not loaded

    def test_places_are_utf16(self):
        document = self.opened('print("𝄞é") + (\n')
        found = document.diagnostics()[0]
        self.assertEqual(found["range"]["start"], {"line": 0, "character": 15})

    def test_closed(self):
        document = self.opened("x = (\n")
        document.diagnostics()
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})
        self.assertEqual(self.client.diagnostics(document.uri)["diagnostics"], [])

    def test_changes_in_a_row(self):
        document = self.opened("é = '𝄞𝄞'\nprint(é)\n")
        document.diagnostics()
        start = {"line": 0, "character": 7}
        document.change([{"range": {"start": start, "end": start}, "text": "ü"}, {"range": {"start": {"line": 1, "character": 0}, "end": {"line": 99, "character": 0}}, "text": "print(é, 'ä')\n"}])
        document.text = "é = '𝄞ü𝄞'\nprint(é, 'ä')\n"
        self.assertEqual(document.diagnostics(), [])
        self.assertIn("print(", document.ask("hover", "print")["contents"]["value"])
        document.change([{"text": "y = 1\n"}])
        self.assertEqual(document.diagnostics(), [])


class Places(LanguageServerTest):
    def test_definition(self):
        document = self.opened()
        for marker, delta, occurrence, wanted, line in (
            ("scale(x", 1, 0, "scale", 4),
            ("v * factor", 0, 0, "v", 7),
            ("* factor", 3, 0, "factor", 4),
            ("return total", 8, 0, "total", 6),
            ("root(self", 1, 0, "root", 1),
            ("[v for v in x]", 1, 0, "v", 21),
            ("self.size", 1, 0, "self", 15),
        ):
            with self.subTest(marker):
                place = document.ask("definition", marker, delta, occurrence)
                self.assertEqual(place["uri"], document.uri)
                self.assertEqual((document.slice(place["range"]), place["range"]["start"]["line"]), (wanted, line))
        self.assertIsNone(document.ask("definition", "print(y", 1))

    def test_definition_in_another_file(self):
        helpers = self.script("import numpy as np\n\n\ndef load(n):\n    return np.arange(n)\n", "helpers.gsl")
        uri = "file://" + os.path.join(self.folder, "main.gsl")
        document = self.opened("import helpers\nfrom helpers import load as get\nprint(helpers.load(3), get(4))\n", uri=uri)
        for marker, delta, line in (("helpers.load", 9, 3), ("get(4)", 1, 3), ("helpers.load", 1, 0)):
            place = document.ask("definition", marker, delta)
            self.assertEqual((place["uri"], place["range"]["start"]["line"]), ("file://" + helpers, line))

    def test_references(self):
        document = self.opened()
        found = document.ask("references", "factor=2.0", context={"includeDeclaration": True})
        self.assertEqual([(p["range"]["start"]["line"], document.slice(p["range"])) for p in found], [(4, "factor"), (8, "factor")])
        found = document.ask("references", "total = 0", context={"includeDeclaration": False})
        self.assertEqual([p["range"]["start"]["line"] for p in found], [8, 9])

    def test_references_of_closures(self):
        document = self.opened("def f():\n    n = 0\n\n    def g():\n        nonlocal n\n        n += 1\n        return n\n\n    return g, n\n\n\nn = 5\n")
        found = document.ask("references", "n = 0", context={"includeDeclaration": True})
        self.assertEqual([p["range"]["start"]["line"] for p in found], [1, 5, 6, 8])

    def test_rename(self):
        document = self.opened()
        edits = document.ask("rename", "v in values", newName="one")["changes"][document.uri]
        self.assertEqual([e["range"]["start"]["line"] for e in edits], [7, 8])
        self.assertEqual({document.slice(e["range"]) for e in edits}, {"v"})
        self.assertIsNone(document.ask("prepareRename", "print(y", 1))
        self.assertEqual(document.ask("prepareRename", "scale(x", 1)["placeholder"], "scale")
        answer = self.client.answer("textDocument/rename", {**document.at("factor=2.0"), "newName": "times"})
        self.assertEqual(answer["error"]["message"], "'factor' is given by its name in a call")
        self.assertIsNone(document.ask("prepareRename", "norm(self"))
        for name in ("1x", "for", "", "total"):
            answer = self.client.answer("textDocument/rename", {**document.at("v in values"), "newName": name})
            self.assertEqual(answer["error"]["code"], -32803)

    def test_document_symbols(self):
        document = self.opened()
        found = self.client.request("textDocument/documentSymbol", {"textDocument": {"uri": document.uri}})
        self.assertEqual([(s["name"], s["kind"]) for s in found], [("scale", 12), ("Point", 5), ("x", 13), ("y", 13)])
        self.assertEqual([(s["name"], s["kind"]) for s in found[1]["children"]], [("norm", 6)])
        for one in found:
            self.assertEqual(document.slice(one["selectionRange"]), one["name"])

    def test_highlights(self):
        document = self.opened()
        self.assertEqual([h["kind"] for h in document.ask("documentHighlight", "total = 0")], [3, 3, 2])


class Help(LanguageServerTest):
    def test_hover(self):
        document = self.opened()
        self.assertIn("scale(values, factor=2.0)", document.ask("hover", "scale(x", 1)["contents"]["value"])
        self.assertIn("Values times a factor.", document.ask("hover", "scale(x", 1)["contents"]["value"])
        hover = document.ask("hover", "np.arange", 4)
        self.assertIn("arange(", hover["contents"]["value"])
        self.assertEqual(document.slice(hover["range"]), "np.arange")
        self.assertIn("total = 0", document.ask("hover", "total += v")["contents"]["value"])
        self.assertIn("shape      (10,)", document.ask("hover", "x = np")["contents"]["value"])
        self.assertIsNone(document.ask("hover", "return total", 2))

    def completed(self, document, marker, delta):
        return [item["label"] for item in document.ask("completion", marker, delta)["items"]]

    def test_completion(self):
        document = self.opened(SCRIPT + "z = np.aran\nsca\nscale(x, fac\nx.me\n")
        self.assertIn("arange", self.completed(document, "np.aran\n", 7))
        self.assertIn("scale", self.completed(document, "sca\n", 3))
        self.assertIn("factor=", self.completed(document, "fac\n", 3))
        self.assertIn("mean", self.completed(document, "x.me\n", 4))

    def test_completion_while_the_text_is_wrong(self):
        document = self.opened()
        document.replace("print(y", "print(np.lin")
        self.assertIn("linspace", self.completed(document, "np.lin", 6))

    def test_text_that_is_wrong_from_the_beginning(self):
        document = self.opened("def f(count):\n    return count\n\n\nx = (\nif\n    y = f(1) +\nz = f(2)\n")
        self.assertEqual(document.ask("definition", "f(2)")["range"]["start"]["line"], 0)
        self.assertEqual(document.ask("signatureHelp", "f(1)", 2)["signatures"][0]["label"], "f(count)")
        self.assertEqual(self.client.answer("textDocument/rename", {**document.at("count"), "newName": "n"})["error"]["message"], "the text is not right yet")

    def test_completion_of_names_of_the_text(self):
        document = self.opened("def outer(count):\n    countable = 1\n    return coun\n")
        items = document.ask("completion", "coun\n", 4)["items"]
        self.assertEqual([i["label"] for i in items][:2], ["count", "countable"])
        self.assertEqual(items[0]["textEdit"]["newText"], "count")

    def test_resolve(self):
        document = self.opened(SCRIPT + "np.linspa\n")
        item = document.ask("completion", "linspa\n", 6)["items"][0]
        resolved = self.client.request("completionItem/resolve", item)
        self.assertIn("linspace(", resolved["detail"])

    def test_signature_help(self):
        document = self.opened(SCRIPT + "scale(x, \nnp.full((2, 3), \n")
        found = document.ask("signatureHelp", "scale(x, \n", 9)
        signature = found["signatures"][0]
        self.assertEqual(signature["label"], "scale(values, factor=2.0)")
        begin, end = signature["parameters"][found["activeParameter"]]["label"]
        self.assertEqual(signature["label"][begin:end], "factor=2.0")
        self.assertIn("fill_value", document.ask("signatureHelp", "np.full((2, 3), ", 16)["signatures"][0]["label"])
        self.assertIsNone(document.ask("signatureHelp", "x = np"))

    def test_nothing_of_the_script_runs(self):
        path = os.path.join(self.folder, "made")
        document = self.opened(f"from pathlib import Path\nPath({path!r}).write_text('x')\nx = Path({path!r}).write_text('x')\n@print\ndef f(a=print(1)):\n    pass\nx.\n")
        document.ask("completion", "x.\n", 2)
        document.ask("hover", "x = Path")
        self.assertFalse(os.path.exists(path))


class Formatting(LanguageServerTest):
    def formatted(self, document):
        edits = self.client.request("textDocument/formatting", {"textDocument": {"uri": document.uri}, "options": {"tabSize": 4, "insertSpaces": True}})
        lines = document.text.split("\n")
        for edit in edits:
            first, last = edit["range"]["start"], edit["range"]["end"]
            self.assertEqual((first["character"], last["character"]), (0, 0))
            before = "".join(line + "\n" for line in lines[: first["line"]])
            after = "\n".join(lines[last["line"] :])
            return before + edit["newText"] + after
        return document.text

    def test_formatting(self):
        document = self.opened("a = 'ä'\nx=[1,2]\nb = 3\n")
        self.assertEqual(self.formatted(document), 'a = "ä"\nx = [1, 2]\nb = 3\n')
        document = self.client.open('a = "ä"\n', "file:///tmp/other.gsl")
        self.assertEqual(self.formatted(document), 'a = "ä"\n')

    def test_wrong_text(self):
        document = self.opened("x = (\n")
        answer = self.client.answer("textDocument/formatting", {"textDocument": {"uri": document.uri}})
        self.assertEqual(answer["error"]["code"], -32803)


class Malformed(LanguageServerTest):
    def test_parse_error(self):
        self.client.send_text("{")
        self.assertEqual(self.client.receive()["error"]["code"], -32700)
        self.client.send_text("[]")
        self.assertEqual(self.client.receive()["error"]["code"], -32600)
        self.client.initialize()

    def test_passes_over_what_is_no_frame(self):
        self.client.send_bytes(b"GET / HTTP/1.1\r\n\r\nContent-Length: many\r\n\r\nContent-Length: 99999999999999\r\n\r\n")
        self.client.initialize()

    def test_thousand_wrong_messages(self):
        """Each is wrong in some way; the server answers what comes after all of them."""
        document = self.opened()
        seed = int(os.environ.get("GASELL_FUZZ_SEED", "1"))
        chance = random.Random(seed)
        methods = ["hover", "completion", "signatureHelp", "definition", "references", "rename", "documentSymbol", "formatting", "didOpen", "didChange", "didSave", "didClose", "documentHighlight", "prepareRename"]
        values = [None, True, -1, 2**63, 1.5, "", "\ud800x", "é" * 9, [], {}, [[]], {"line": -5, "character": 10**12}, {"line": 3, "character": 2}, {"uri": document.uri}]

        def anything(depth=0):
            if depth > 3 or chance.random() < 0.5:
                return chance.choice(values)
            if chance.random() < 0.4:
                return [anything(depth + 1) for _ in range(chance.randrange(4))]
            keys = ["textDocument", "position", "uri", "text", "range", "contentChanges", "line", "character", "newName", "data", "version", "start", "end"]
            return {chance.choice(keys): anything(depth + 1) for _ in range(chance.randrange(5))}

        for number in range(1000):
            params = {"textDocument": {"uri": document.uri}, "position": {"line": 2, "character": 1}, "newName": "q", "contentChanges": [{"text": "x = 1\n"}]}
            for _ in range(chance.randrange(3)):
                params[chance.choice(sorted(params))] = anything()
            message = {"jsonrpc": "2.0", "method": "textDocument/" + chance.choice(methods), "params": params}
            if message["method"].endswith("didClose"):
                params["textDocument"] = anything()
            if chance.random() < 0.7:
                message["id"] = chance.choice([number + 10**6, "text", None, 1.5, []])
            if chance.random() < 0.2:
                message[chance.choice(["method", "params", "id", "jsonrpc"])] = anything()
            if message.get("method") == "exit":
                continue
            body = json.dumps(message).encode()
            if chance.random() < 0.3:
                body = bytearray(body)
                for _ in range(chance.randrange(1, 5)):
                    body[chance.randrange(len(body))] = chance.randrange(256)
                body = bytes(body)
            self.client.send_text(body)
            if number % 20 == 0:
                self.client.answer("textDocument/documentSymbol", {"textDocument": {"uri": document.uri}})
                self.client.notifications.clear()
        document = self.client.open("print(1)\n")
        self.assertIn("print(", document.ask("hover", "print", 1)["contents"]["value"])


if __name__ == "__main__":
    unittest.main()
