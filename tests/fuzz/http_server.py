"""tests/fuzz/http_server.py DIR: the server that http tasks of the live fuzz call. Writes its port to DIR/port and ends with a SIGTERM. What it
answers is made from the path, so the same records get the same answers: wrong lengths, chunks, headers and encodings, bytes of any kind,
half an answer, none."""
import os
import random
import socket
import socketserver
import struct
import sys

directory = sys.argv[1]
NUMBERS = [b"0", b"1", b"-1", b"1.5", b"1e9", b"99999", b"86400", b"2147483648", b"18446744073709551616", b"", b" 2 ", b"0x2", b"\xd9\xa2",
           b"Fri, 31 Dec 9999 23:59:59 GMT", b"Thu, 01 Jan 1970 00:00:00 GMT", b"Fri, 32 Foo -1 99:99:99"]
STATUS = [b"200 OK", b"200", b"204 No Content", b"206 Partial", b"301 Moved", b"302 Found", b"304 Not Modified", b"400 Bad", b"401 No", b"404 No",
          b"409 Conflict", b"417 No", b"418 Teapot", b"429 Later", b"500 Broken", b"503 Later", b"599 ?", b"600 ?", b"000 ?", b"999 ?", b"20 ?",
          b"-200 ?", b"2000 ?", b"200 \xff\xfe\x00"]
TEXTS = [b"ok", b"", b'{"a":1}', b"\x00\x01\x02", b"\xff\xfe\xc3", "\u0436\u8a9e\U0001f600".encode() * 300, b"x" * 5000, b"\xe2\x82" * 600,
         b"\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", b"\x1f\x8b\x08\x00garbage", b"%s%n' OR 1=1 --"]
HEADERS = [b"Retry-After: %s", b"Content-Length: %s", b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked", b"Content-Encoding: gzip",
           b"Content-Encoding: nosuch", b"Connection: close", b"Connection: keep-alive", b"Location: http://127.0.0.1:1/%s", b"Location: file:///etc/passwd",
           b"Location: \xff\xfe", b"Set-Cookie: a=%s", b"no colon %s", b": no name", b"X-NUL: a\x00b", b" folded: %s", b"X-Long: " + b"y" * 9000,
           b"Content-Type: text/plain; charset=\xff", b"Trailer: X", b"Upgrade: h2c", b"WWW-Authenticate: Basic realm=%s", b"Content-Range: bytes 0-%s/1"]


def answer(r):
    body = b"".join(r.choice(TEXTS) for _ in range(r.randint(1, 3)))
    kind = r.randrange(10)
    if kind == 0:
        return bytes(r.randrange(256) for _ in range(r.randrange(400)))
    if kind == 1:
        return body
    lines = [r.choice([b"HTTP/1.1 ", b"HTTP/1.1 ", b"HTTP/1.1 ", b"HTTP/1.0 ", b"HTTP/2 ", b"HTTP/9.9 ", b"ICY "]) + r.choice(STATUS)]
    for _ in range(r.randrange(4)):
        line = r.choice(HEADERS)
        lines.append(line.replace(b"%s", r.choice(NUMBERS)))
    if r.randrange(2):
        lines.append(b"Content-Length: %d" % (len(body) + r.choice([0, 0, 0, 1, -1, 100000])))
    text = r.choice([b"\r\n", b"\r\n", b"\r\n", b"\n"]).join(lines) + b"\r\n\r\n"
    if b"chunked" in text and r.randrange(2):
        body = r.choice([b"%x", b"%x;ext", b"-%x", b"%x0000000000000000", b"0%x"]) % len(body) + b"\r\n" + body + b"\r\n0\r\n\r\n"
    text = b"HTTP/1.1 100 Continue\r\n\r\n" * r.choice([0, 0, 0, 1, 50]) + text + body
    if r.randrange(4) == 0:
        text = text[:r.randrange(len(text) + 1)]
    for _ in range(r.choice([0, 0, 1, 5])):
        at = r.randrange(len(text) + 1)
        text = text[:at] + bytes([r.randrange(256)]) + text[at + 1:]
    return text


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.settimeout(5)
        seen = b""
        while b"\r\n\r\n" not in seen:
            some = self.request.recv(65536)
            if not some:
                return
            seen += some
        r = random.Random(seen.split(b"\r\n", 1)[0].split(b" ", 2)[1])
        how = r.randrange(20)
        if how == 0:  # a reset
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return
        if how == 1:  # silence, until the client has enough of it
            self.request.recv(1)
            return
        self.request.sendall(answer(r))


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 100

    def handle_error(self, request, client_address):
        pass  # clients that hang up


server = Server(("127.0.0.1", 0), Handler)
with open(f"{directory}/port.new", "w") as file:
    file.write(str(server.server_address[1]))
os.rename(f"{directory}/port.new", f"{directory}/port")
server.serve_forever()
