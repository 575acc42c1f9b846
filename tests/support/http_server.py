"""tests/support/http_server.py DIR [CERTIFICATE]: the server that http tasks of tests call. Writes its port to DIR/port, one JSON object for
each request to DIR/requests, and ends with its parent's SIGTERM. What it does stands in the path."""
import email.utils
import http.server
import json
import os
import ssl
import sys
import threading
import time
import urllib.parse

directory = sys.argv[1]
lock = threading.Lock()
seen = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def flood(self, size):
        """No length: how much it is shows at its end."""
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            for _ in range(size >> 20):
                self.wfile.write(b"y" * (1 << 20))
        except (BrokenPipeError, ConnectionResetError):
            with lock, open(f"{directory}/hung_up", "a") as file:
                file.write(self.path + "\n")
        self.close_connection = True

    def header_flood(self, size):
        try:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            for i in range(size // 1000):
                self.wfile.write(b"X-%d: " % i + b"y" * 990 + b"\r\n")
            self.wfile.write(b"Content-Length: 0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            with lock, open(f"{directory}/hung_up", "a") as file:
                file.write(self.path + "\n")
        self.close_connection = True

    def serve(self):
        if self.headers.get("Expect") is not None:  # as Node's server does, also when it is empty
            self.answer(417)
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with lock:
            seen[self.path] = count = seen.get(self.path, 0) + 1
            with open(f"{directory}/requests", "a") as file:
                file.write(json.dumps({"path": self.path, "count": count, "key": self.headers.get("Idempotency-Key"), "at": time.time()}) + "\n")
        word, _, rest = self.path[1:].partition("/")
        if word == "echo":
            told = {"method": self.command, "body": body.decode(), "headers": {k.lower(): v for k, v in self.headers.items()}}
            self.answer(200, json.dumps(told).encode(), Content_Type="application/json")
        elif word == "status":
            self.answer(int(rest), b"because")
        elif word == "retry":
            if count == 1:
                later = email.utils.formatdate(time.time() + 3, usegmt=True) if rest == "date" else urllib.parse.unquote(rest)
                self.answer(503, b"busy", Retry_After=later)
            else:
                self.answer(200, b"at last")
        elif word == "redirect":
            self.answer(302, Location="/echo/redirected")
        elif word == "far":  # a long redirect in raw UTF-8
            self.send_response(302)
            self.send_header("Location", "/" + "\u0436".encode().decode("latin-1") * 300)
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif word == "elsewhere":
            self.answer(302, Location="http://" + rest)
        elif word == "headers":
            self.header_flood(int(rest))
        elif word == "big":
            self.flood(1 << 30)
        elif word == "slow":
            time.sleep(float(rest))
            self.answer(200, b"late")
        elif word == "binary":
            self.answer(200, b"a\xff\x00b\xc3\xa9c\xc3")
        elif word == "close":
            self.close_connection = True
        else:
            self.answer(404, b"no such word")

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = serve


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass # clients that hang up


server = Server(("127.0.0.1", 0), Handler)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(f"{directory}/port.new", "w") as file:
    file.write(str(server.server_port))
os.rename(f"{directory}/port.new", f"{directory}/port")
server.serve_forever()
