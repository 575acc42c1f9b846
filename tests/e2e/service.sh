#!/bin/bash
# Daemons report to the service manager that they are ready, and that they stop (systemd's protocol, NOTIFY_SOCKET).
# ctest: nosan
. "$(dirname "$0")/../support/e2e.bash"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic
cat >"$tmp/manager.py" <<'END'
import socket, sys
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind(sys.argv[1].replace('@', '\0', 1))
print('listens', flush=True)
while True:
    print(manager.recv(1000).decode(), flush=True)
END
said() { [ "$(xargs <"$tmp/said")" = "$1" ]; }
# manages SOCKET COMMAND...: begins and ends a daemon, whose messages are then in said
manages() {
    local socket=$1 manager daemon
    : >"$tmp/said"
    python3 "$tmp/manager.py" "$socket" >"$tmp/said" &
    manager=$!
    eventually 20 said listens || wrong 'nothing listens'
    NOTIFY_SOCKET=$socket "$LOCKSTEP_BIN" "${@:2}" -d "$db" -b "$LOCKSTEP_TEST_BROKERS" 2>"$tmp/log" >/dev/null &
    daemon=$!
    eventually 30 said 'listens READY=1' || wrong "$2 $3: $(cat "$tmp/said" "$tmp/log")"
    told_to_end "$daemon"
    eventually 10 said 'listens READY=1 STOPPING=1' || wrong "$2 $3: $(cat "$tmp/said" "$tmp/log")"
    kill "$manager"
    wait "$manager" || true
}

case_begin 'each daemon says that it is ready, and that it stops'
manages "$tmp/executor.sock" executor run --queue "$q" --readers 2
manages "@$q" scheduler run
manages "$tmp/monitor.sock" monitor run
manages "$tmp/console.sock" console run --listen "$tmp/http.sock"

case_begin 'a proxy of another user may connect to the socket of the console, and to that of the metrics'
(umask 077 && exec "$LOCKSTEP_BIN" all run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" \
    --listen "$tmp/http.sock" -s metrics.listen="$tmp/metrics.sock") 2>"$tmp/log" >/dev/null &
daemon=$!
rights() { stat -c %A "$tmp/http.sock" "$tmp/metrics.sock" 2>&1 | xargs; }
are_open() { [ "$(rights)" = 'srw-rw-rw- srw-rw-rw-' ]; }
eventually 30 are_open || wrong "$(rights; cat "$tmp/log")"
told_to_end "$daemon"

case_begin 'an address that is none is ignored'
NOTIFY_SOCKET=vsock:2:1 "$LOCKSTEP_BIN" monitor run -d "$db" 2>"$tmp/log" &
daemon=$!
eventually 20 grep -q 'event=monitor_started' "$tmp/log" || wrong "$(cat "$tmp/log")"
told_to_end "$daemon"
cases_end
exit $failed
