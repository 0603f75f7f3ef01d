"""A scripted client of the Language Server Protocol."""

import json
import os
import select
import subprocess
import time

from support import GASELL, environment

PATIENCE = 30  # seconds


class Client:
    def __init__(self, folder="."):
        self.process = subprocess.Popen([GASELL, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=environment())
        self.next_id = 0
        self.notifications = []
        self._read = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send_text(self, text):
        body = text.encode() if isinstance(text, str) else text
        self.send_bytes(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def send(self, message):
        self.send_text(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False))

    def receive(self, patience=PATIENCE):
        """The next message; None when none came in time."""
        end = time.monotonic() + patience
        while True:
            header, separator, rest = self._read.partition(b"\r\n\r\n")
            if separator:
                length = int(header.split(b":")[1])
                if len(rest) >= length:
                    self._read = rest[length:]
                    return json.loads(rest[:length])
            remaining = end - time.monotonic()
            if remaining <= 0 or not select.select([self.process.stdout], [], [], remaining)[0]:
                return None
            part = os.read(self.process.stdout.fileno(), 1 << 16)
            if not part:
                raise AssertionError(f"the server ended: {self.process.wait()} {self.process.stderr.read().decode()}")
            self._read += part

    def answer(self, method, params=None):
        """The whole answer to a request; what is notified meanwhile is kept."""
        self.next_id += 1
        self.send({"id": self.next_id, "method": method, "params": params or {}})
        while True:
            message = self.receive()
            if message is None:
                raise AssertionError(f"no answer to {method}")
            if message.get("id") == self.next_id:
                return message
            self.notifications.append(message)

    def request(self, method, params=None):
        answer = self.answer(method, params)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def notify(self, method, params=None):
        self.send({"method": method, "params": params or {}})

    def initialize(self):
        result = self.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.notify("initialized")
        return result

    def open(self, text, uri="file:///tmp/script.gsl"):
        self.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "gasell", "version": 1, "text": text}})
        return Opened(self, uri, text)

    def diagnostics(self, uri):
        """Those that are published next for the document."""
        while True:
            message = self.notifications.pop(0) if self.notifications else self.receive()
            if message is None:
                raise AssertionError("no diagnostics were published")
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                return message["params"]


class Opened:
    """A document that is open, with questions about places in its text."""

    def __init__(self, client, uri, text):
        self.client, self.uri, self.text, self.version = client, uri, text, 1

    def position(self, offset):
        """UTF-16, as the protocol has it; `offset` counts characters."""
        line = self.text.count("\n", 0, offset)
        start = self.text.rfind("\n", 0, offset) + 1
        return {"line": line, "character": len(self.text[start:offset].encode("utf-16-le")) // 2}

    def at(self, marker, delta=0, occurrence=0):
        offset = -1
        for _ in range(occurrence + 1):
            offset = self.text.index(marker, offset + 1)
        return {"textDocument": {"uri": self.uri}, "position": self.position(offset + delta)}

    def ask(self, feature, marker, delta=0, occurrence=0, **more):
        return self.client.request("textDocument/" + feature, {**self.at(marker, delta, occurrence), **more})

    def slice(self, span):
        """The text of a range."""
        units = [line.encode("utf-16-le") for line in self.text.split("\n")]
        first, last = span["start"], span["end"]
        if first["line"] == last["line"]:
            return units[first["line"]][2 * first["character"] : 2 * last["character"]].decode("utf-16-le")
        middle = [units[first["line"]][2 * first["character"] :], *units[first["line"] + 1 : last["line"]], units[last["line"]][: 2 * last["character"]]]
        return "\n".join(line.decode("utf-16-le") for line in middle)

    def replace(self, old, new, occurrence=0):
        """One incremental change."""
        offset = -1
        for _ in range(occurrence + 1):
            offset = self.text.index(old, offset + 1)
        span = {"start": self.position(offset), "end": self.position(offset + len(old))}
        self.text = self.text[:offset] + new + self.text[offset + len(old) :]
        self.change([{"range": span, "text": new}])

    def change(self, changes):
        self.version += 1
        self.client.notify("textDocument/didChange", {"textDocument": {"uri": self.uri, "version": self.version}, "contentChanges": changes})

    def diagnostics(self):
        """Of the present version."""
        while True:
            published = self.client.diagnostics(self.uri)
            if published.get("version") == self.version:
                return published["diagnostics"]
