#!/usr/bin/env python3
"""tests/torture/outside.py DIR: the server that http tasks call under torture. Writes its port to DIR/outside.port and a line for each
request to DIR/outside.log: when it came, and its path, /QUEUE/RUN/ORDER/NUMBER/SECONDS. It answers after so many seconds."""
import datetime
import http.server
import os
import sys
import time

directory = sys.argv[1]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        *task, seconds = self.path.strip("/").split("/")
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")
        line = " ".join([now, *task, "http"]) + "\n"
        log = os.open(directory + "/outside.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(log, line.encode())
        os.close(log)
        time.sleep(float(seconds))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_GET


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(directory + "/outside.port", "w", encoding="ascii") as port:
    port.write(str(server.server_port))
server.serve_forever()
