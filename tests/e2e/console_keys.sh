#!/bin/bash
# Keys of [console] that other tests leave at their defaults, a socket that systemd passes, and the console together
# with an executor in one process.
# ctest: timeout=120
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/console.bash"
q=$(scratch_name) looks=$(scratch_name)
person "$looks" lockstep_monitor
lockstep queue create "$q" -q --create-topic >/dev/null
tasks='{"order": 1, "sql": "SELECT 4711"}'

# begin ARGS...: a console with these arguments alone, as console_start; refused ARGS...: its words, and the exit code,
# where it does not start
begin() {
    : >"$tmp/console.log"
    "$@" 2>>"$tmp/console.log" >/dev/null &
    console=$!
    eventually 30 grep -q 'event=console_started' "$tmp/console.log" || { cat "$tmp/console.log"; return 1; }
    url=$(sed -nE 's/.*event=console_started url=([^ ]*).*/\1/p' "$tmp/console.log" | tail -n 1)
}
refused() { timeout 20 "$@" 2>&1 && echo 'it has started' || echo "exit code $?"; }
run=("$LOCKSTEP_BIN" -s "postgres.conninfo=$db" console run)

case_begin 'an executor and the console are one process, which SIGTERM drains'
begin "$LOCKSTEP_BIN" all run --queue "$q" --readers 2 --listen 0 -d "$db" -b "$LOCKSTEP_TEST_BROKERS" \
    -s console.login=none
id=$(lockstep publish --queue "$q" -q - <<<"$tasks")
eventually 30 is "SELECT status FROM lockstep.run WHERE run_id = '$id'" Completed
api GET "api/v1/runs/$id"
expect 'the console shows what the executor has done' "$status $(api_is .run.status)" '200 Completed'
kill "$console"
code=0
wait "$console" || code=$?
expect 'it ends' "$code $(grep -cE 'event=executor_(stopped|ended)' "$tmp/console.log")" '0 1'
expect 'its executor has ended' "$(sql 'SELECT count(*) FROM lockstep.executor WHERE ended_at IS NULL')" 0
task=$(sql 'SELECT max(task_id) FROM lockstep.task')

case_begin 'with show_payloads who may only look sees statements, too'
for shows in off on; do
    console_start -s "console.show_payloads=$shows"
    sign_in "$looks"
    as GET "api/v1/tasks/$task"
    expect "show_payloads = $shows" \
        "$(api_is '[.task.hidden, (.task.payload | tostring | contains("4711"))] | map(tostring) | join(" ")')" \
        "$([ $shows = on ] && echo 'false true' || echo 'true false')"
    console_stop
done

case_begin 'an address that others reach needs TLS, or allow_plain'
expect 'refused' "$(refused "${run[@]}" --listen 0.0.0.0:0 | grep -c 'allow_plain\|exit code 2')" 2
begin "${run[@]}" --listen 0.0.0.0:0 -s console.allow_plain=on
port=${url##*:} port=${port%%/*}
url=http://localhost:$port/ api GET api/v1/session # 0.0.0.0 is no name by which one asks
expect 'with allow_plain it answers' "$status" 401

case_begin 'a request is for a name of the console, or of hosts'
url=http://127.0.0.1:$port/ api GET api/v1/session '' -H 'Host: lockstep.example.com'
expect 'a name that is not known' "$status" 421
console_stop
console_start -s console.hosts=lockstep.example.com,other.example:8443
for host in lockstep.example.com lockstep.example.com:9999 other.example:8443; do
    api GET api/v1/session '' -H "Host: $host"
    expect "$host" "$status" 401
done
for host in evil.example other.example lockstep.example.com.evil.example; do
    api GET api/v1/session '' -H "Host: $host"
    expect "$host" "$status" 421
done
console_stop

case_begin 'a socket that systemd passes is answered at, and what is none is refused'
cat >"$tmp/passes.py" <<'PYTHON'
import os, socket, sys
kind, command = sys.argv[1], sys.argv[2:]
kept = None
if kind == 'listening':
    kept = socket.create_server(('127.0.0.1', 0))
elif kind == 'connected':
    kept = socket.socketpair()[0]
elif kind == 'datagrams':
    kept = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    kept.bind(('127.0.0.1', 0))
elif kind == 'file':
    kept = open(os.devnull)
if kept is not None:
    os.dup2(kept.fileno(), 3)
    os.set_inheritable(3, True) # also where it was 3 before, which dup2 leaves as it is
else:
    os.closerange(3, 4)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='2' if kind == 'two' else '1')
os.execv(command[0], command)
PYTHON
passed=("${run[@]}" --listen systemd)
begin python3 "$tmp/passes.py" listening "${passed[@]}"
api GET api/v1/session
expect 'a listening socket' "$status" 401
console_stop
for kind in connected datagrams file none; do
    said=$(refused python3 "$tmp/passes.py" "$kind" "${passed[@]}")
    for words in 'descriptor 3, which systemd has passed, is no socket that listens for connections' \
        'a .socket unit with one ListenStream' 'exit code 2'; do
        expect "$kind: $words" "$(grep -c "$words" <<<"$said")" 1
    done
done
expect 'two sockets' \
    "$(refused python3 "$tmp/passes.py" two "${passed[@]}" | grep -c 'has not passed one socket\|exit code 2')" 2
expect 'none at all' "$(refused "${passed[@]}" | grep -c 'has not passed one socket\|exit code 2')" 2
cases_end
exit $failed
