"""Servers on this machine that stand for the network: a web server with every vice, a store that speaks S3, one that speaks Google's."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class WebServer:
    """Serves `files` (path: bytes) below:
    /ranges/   with ranges, as most servers do
    /plain/    without ranges, with a length
    /endless/  without ranges and length: the end of the connection is the end
    /flaky/    with ranges, but each request has to be made three times (503)
    /broken/   sends half of what it announces
    /changing/ another ETag each time
    /moved/    a redirection to /ranges/
    /secret/   403 without the header "X-Key: open"
    """

    def __init__(self, files):
        self.requests = []  # (path, range)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                asked = (self.path, self.headers.get("Range"))
                outer.requests.append(asked)
                kind, _, name = self.path.split("?")[0].lstrip("/").partition("/")
                if kind == "flaky" and outer.requests.count(asked) % 3:
                    return self.answer(503, "Service Unavailable")
                if kind == "moved":
                    return self.answer(302, "Found", headers={"Location": "/ranges/" + name})
                if kind == "secret" and self.headers.get("X-Key") != "open":
                    return self.answer(403, "Forbidden")
                body = files.get(name)
                if body is None:
                    return self.answer(404, "Not Found", b"<html>nothing here</html>")
                if kind == "endless":
                    self.send_response(200)
                    self.send_header("Connection", "close")
                    self.end_headers()
                    with contextlib.suppress(OSError):
                        self.wfile.write(body)
                    self.close_connection = True
                    return None
                if kind == "plain":
                    return self.answer(200, "OK", body)
                return self.part(kind, body)

            def part(self, kind, body):
                wanted = self.headers.get("Range")
                if not wanted:
                    return self.answer(200, "OK", body)
                first, last = wanted.removeprefix("bytes=").split("-")
                if int(first) >= len(body):
                    return self.answer(416, "Range Not Satisfiable", headers={"Content-Range": f"bytes */{len(body)}"})
                last = min(int(last), len(body) - 1)
                piece = body[int(first):last + 1]
                headers = {"Content-Range": f"bytes {first}-{last}/{len(body)}", "ETag": '"1"'}
                if kind == "changing":
                    headers["ETag"] = f'"{len(outer.requests)}"'
                if kind == "broken" and len(piece) > 1:
                    return self.answer(206, "Partial Content", piece, headers, sent=len(piece) // 2)
                return self.answer(206, "Partial Content", piece, headers)

            def answer(self, status, reason, body=b"", headers=None, sent=None):
                self.send_response(status, reason)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(body[:sent])
                if sent is not None:
                    self.close_connection = True

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # who asks may leave in the middle of an answer
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path):
        return f"http://127.0.0.1:{self.port}/{path}"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(url, process):
    for _ in range(300):
        with contextlib.suppress(urllib.error.HTTPError):  # an answer is an answer
            try:
                urllib.request.urlopen(url, timeout=1).close()
                return
            except urllib.error.HTTPError:
                return
            except OSError:
                pass
        if process.poll() is not None:
            raise RuntimeError(f"the server at {url} ended")
        time.sleep(0.1)
    raise RuntimeError(f"no server at {url}")


class S3Server:
    """moto's server, with `files` in a bucket."""

    def __init__(self, bucket, files):
        import boto3

        port = free_port()
        self.endpoint = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        wait_for(self.endpoint, self.process)
        client = boto3.client("s3", endpoint_url=self.endpoint, region_name="us-east-1", aws_access_key_id="key", aws_secret_access_key="secret")
        client.create_bucket(Bucket=bucket)
        for name, body in files.items():
            client.put_object(Bucket=bucket, Key=name, Body=body)

    def stop(self):
        self.process.kill()
        self.process.wait()


class GoogleServer:
    """gcp-storage-emulator, with `files` in a bucket."""

    def __init__(self, bucket, files):
        port = free_port()
        self.endpoint = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen([sys.executable, "-m", "gcp_storage_emulator", "start", "--host", "127.0.0.1", "--port", str(port), "--in-memory",
                                         "--default-bucket", bucket], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.endpoint, self.process)
        for name, body in files.items():
            request = urllib.request.Request(f"{self.endpoint}/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}", data=body, method="POST",
                                             headers={"Content-Type": "application/octet-stream"})
            urllib.request.urlopen(request, timeout=10).close()

    def stop(self):
        self.process.kill()
        self.process.wait()


def without_proxies(environment):
    """The environment without what would send local requests elsewhere, or take the user's own credentials."""
    return {name: value for name, value in environment.items() if not name.lower().endswith("_proxy") and not name.startswith(("AWS_", "GOOGLE_", "STORAGE_"))}


def environment_for_tests():
    return without_proxies(dict(os.environ))
