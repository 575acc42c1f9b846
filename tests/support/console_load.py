"""Clients that a console has to bear, for tests/e2e/console_load.sh: console_load.py WHAT URL [ARGS...]; what came of it goes to stdout.

crowd COUNT     opens so many connections and keeps them, every second one with half a request; "crowd OPEN" when all are made, and then waits for its stdin to end.
large BYTES     sends a request with a body of so many bytes, in pieces, and says "STATUS SENT": what was answered, and how many bytes it had sent by then.
chunked BYTES   the same without saying how large it is; STATUS is "closed" when there was no answer.
slow WHAT       sends a byte of its head, or of its body, each 0.2 s: "WHAT SECONDS" until the connection was closed.
deaf            takes the event stream and reads nothing; "deaf" when it has begun; then waits for its stdin to end.
listeners COOKIE COUNT   takes the event stream so often, until it is refused: "listeners TAKEN of COUNT, then STATUS TYPE"; then waits for its stdin to end.
"""
import socket
import sys
import time
import urllib.parse


def connect(url, receive=None):
    at = urllib.parse.urlsplit(url)
    s = socket.socket()
    if receive:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    s.settimeout(60)
    s.connect((at.hostname, at.port))
    return s, f'Host: {at.hostname}:{at.port}\r\n'


def crowd(url, count):
    made = []
    for i in range(int(count)):
        s, host = connect(url)
        if i % 2:
            try:
                s.sendall(f'GET /livez HTTP/1.1\r\n{host}X-Slow: '.encode())
            except OSError:
                pass  # it was closed to make room
        made.append(s)
    print('crowd', len(made), flush=True)
    sys.stdin.read()


def status_of(s):
    try:
        head = s.recv(64)
    except OSError:
        return 'closed'
    return head.split()[1].decode() if head else 'closed'


def send(url, head, size, piece, end=b''):
    s, host = connect(url)
    s.sendall(f'POST /api/v1/runs/actions HTTP/1.1\r\n{host}Content-Type: application/json\r\n{head}\r\n'.encode())
    s.settimeout(0.01)
    sent = 0
    while sent < size or sent % len(piece):
        try:
            sent += s.send(piece[sent % len(piece):])
        except TimeoutError:
            pass
        except OSError:
            break  # the other side has closed: what it answered before is still to be read
        try:
            if s.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) is not None:
                break
        except (BlockingIOError, TimeoutError):
            pass  # nothing is answered yet; MSG_DONTWAIT or not, a socket with a timeout waits for it
        except OSError:
            return 'closed', sent
    else:
        s.sendall(end)
    s.settimeout(30)
    return status_of(s), sent


def slow(url, what):
    s, host = connect(url)
    rest = f'POST /api/v1/session HTTP/1.1\r\n{host}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n'
    if what == 'body':
        s.sendall(rest.encode())
    began = time.monotonic()
    s.settimeout(0.2)
    while time.monotonic() - began < 25:
        try:
            s.sendall(b'x')
            if s.recv(1000) == b'':
                break
        except TimeoutError:
            pass
        except OSError:
            break
    print(what, round(time.monotonic() - began, 1))


def deaf(url, cookie=''):
    s, host = connect(url, 4096)
    s.sendall(f'GET /api/v1/stream HTTP/1.1\r\n{host}{cookie}\r\n'.encode())
    s.recv(20)
    print('deaf', flush=True)
    sys.stdin.read()


def listeners(url, cookie, count):
    taken = []
    for _ in range(int(count)):
        s, host = connect(url)
        s.sendall(f'GET /api/v1/stream HTTP/1.1\r\n{host}Cookie: {cookie}\r\n\r\n'.encode())
        head = b''
        while b'\r\n\r\n' not in head:
            head += s.recv(1024)
        status = head.split()[1].decode()
        if status != '200':
            break
        taken.append(s)
    kind = [line.split(b':')[1].strip().decode() for line in head.split(b'\r\n') if line.lower().startswith(b'content-type:')]
    print('listeners', len(taken), 'of', f'{count},', 'then', status, *kind, flush=True)
    sys.stdin.read()


command, url, *words = sys.argv[1:]
if command == 'large':
    print(*send(url, f'Content-Length: {words[0]}\r\n', int(words[0]), b' ' * 65536))
elif command == 'chunked':
    print(*send(url, 'Transfer-Encoding: chunked\r\n', int(words[0]), b'10000\r\n' + b' ' * 65536 + b'\r\n', b'0\r\n\r\n'))
else:
    {'crowd': crowd, 'slow': slow, 'deaf': deaf, 'listeners': listeners}[command](url, *words)
