#!/bin/bash
# A server takes the connection and says nothing, and meanwhile the clock is set back by an hour: libpq's own time-out
# would last that hour longer. And the next host of the connection string is asked after it.
# ctest: nosan timeout=90
. "$(dirname "$0")/../support/e2e.bash"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 1
# Its first answer (to whether it speaks TLS) comes when the file go is there; then there is nothing more.
python3 -c '
import os, socket, sys, time
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(16)
print(server.getsockname()[1], flush=True)
first = server.accept()[0]
first.recv(8)
open(sys.argv[1] + "/asked", "w").close()
while not os.path.exists(sys.argv[1] + "/go"):
    time.sleep(0.05)
first.send(b"N")
time.sleep(1000)' "$tmp" >"$tmp/port" &
eventually 10 test -s "$tmp/port"
silent=$(cat "$tmp/port")
name=${db##*dbname=} port=$(sed -n 's/.* port=\([0-9]*\) .*/\1/p' <<<"$LOCKSTEP_TEST_PG")

faketime=$(find /usr/lib -name libfaketime.so.1 -print -quit)
[ -n "$faketime" ] || { echo 'libfaketime is missing: scripts/setup'; exit 1; }
echo '+0' >"$tmp/clock"
case_begin 'an executor gives up a silent server within its time-out, though the clock is set back by an hour'
LD_PRELOAD=$faketime FAKETIME_TIMESTAMP_FILE=$tmp/clock FAKETIME_NO_CACHE=1 DONT_FAKE_MONOTONIC=1 \
    "$LOCKSTEP_BIN" executor run -d "host=127.0.0.1 port=$silent user=lockstep_test dbname=$name connect_timeout=5" \
    -b "$LOCKSTEP_TEST_BROKERS" \
    --queue "$q" --readers 1 2>"$tmp/backwards" &
pid=$!
eventually 10 test -f "$tmp/asked"
echo '-3600' >"$tmp/clock"
touch "$tmp/go"
eventually 30 gone $pid || { failed=1; kill -KILL $pid; }
rc=0
wait $pid || rc=$?
expect 'a silent server and a clock that is set back' "$rc" 3
grep -q 'does not answer within 5 s' "$tmp/backwards" || { cat "$tmp/backwards"; failed=1; }

case_begin 'the next host of the connection string is tried after a silent one'
expect 'the next host' "$("$LOCKSTEP_BIN" queue list -o csv \
    -d "host=127.0.0.1,127.0.0.1 port=$silent,$port user=lockstep_test dbname=$name connect_timeout=1" \
    -b "$LOCKSTEP_TEST_BROKERS" | cut -d, -f1 | tail -n 1)" "$q"

case_begin 'and so are the hosts of the environment and of a service file'
expect 'the next host of PGHOST' "$(PGHOST=127.0.0.1,127.0.0.1 PGPORT=$silent,$port "$LOCKSTEP_BIN" queue list -o csv \
    -d "user=lockstep_test dbname=$name connect_timeout=1" \
    -b "$LOCKSTEP_TEST_BROKERS" | cut -d, -f1 | tail -n 1)" "$q"
printf '[both]\nhost=127.0.0.1,127.0.0.1\nport=%s,%s\n' "$silent" "$port" >"$tmp/services"
expect 'the next host of a service' "$(PGSERVICEFILE=$tmp/services "$LOCKSTEP_BIN" queue list -o csv \
    -d "service=both user=lockstep_test dbname=$name connect_timeout=1" \
    -b "$LOCKSTEP_TEST_BROKERS" | cut -d, -f1 | tail -n 1)" "$q"
cases_end
exit $failed
