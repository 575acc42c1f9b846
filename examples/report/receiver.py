#!/usr/bin/python3
"""receiver.py DIRECTORY: who is told of reports. Answers 503 the first time, and does nothing twice: it knows the Idempotency-Key of what it has
done. Writes its port to DIRECTORY/port."""
import http.server
import os
import sys

done, asked = set(), 0


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global asked
        asked += 1
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        key = self.headers["Idempotency-Key"]
        status = 503 if asked == 1 else 200
        if status == 200 and key not in done:
            done.add(key)
            print(f"told: {body}", flush=True)
        self.send_response(status)
        self.send_header("Retry-After", "1")
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
with open(f"{sys.argv[1]}/port.new", "w") as file:
    file.write(str(server.server_port))
os.rename(f"{sys.argv[1]}/port.new", f"{sys.argv[1]}/port")
server.serve_forever()
