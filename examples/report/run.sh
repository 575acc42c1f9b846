#!/bin/bash
# examples/report/run.sh CONNINFO BROKERS: a report as one task with four steps: SQL collects, a command renders, a
# request notifies a person, SQL notes that. The first request is refused with 503, so the second attempt begins with
# that step. The database has the schema (lockstep migrate up). Leaves a queue and the schema report behind, both named
# below; they must not be there before.
# The topic is created if the broker lacks it. The embedded broker cannot create one, so start it with the topic:
#   lockstep dev broker --topic report
#   QUEUE          the queue and its topic (default: report)
#   LOCKSTEP_BIN   the binary (default: lockstep)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# = 2 ] || { sed -n '2,9p' "$0" >&2; exit 2; }
lockstep=${LOCKSTEP_BIN:-lockstep} queue=${QUEUE:-report} pids=() tmp=$(mktemp -d)
trap '[ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true; wait || true; rm -rf "$tmp"' EXIT

psql -X -q -v ON_ERROR_STOP=1 -d "$1" -c 'CREATE SCHEMA report
    CREATE TABLE sale (day int, amount numeric) CREATE TABLE line (name text, amount numeric, told_at timestamptz)'
/usr/bin/python3 "$here/receiver.py" "$tmp" >"$tmp/told" & pids+=($!)
while [ ! -e "$tmp/port" ]; do sleep 0.1; done
cat >"$tmp/lockstep.conf" <<END
[commands]
render = "$here/render" "$tmp"
tidy = /usr/bin/find "$tmp" -name "*.old" -delete
[command:render]
cpu_limit = 10s
memory_limit = 1GB
[http]
allow = 127.0.0.1:$(cat "$tmp/port")
END
sed "s/PORT/$(cat "$tmp/port")/" "$here/tasks.jsonl" >"$tmp/tasks.jsonl"

"$lockstep" queue create "$queue" -q --create-topic -d "$1" -b "$2"
"$lockstep" executor run --config "$tmp/lockstep.conf" --queue "$queue" -d "$1" -b "$2" 2>"$tmp/executor.log" &
pids+=($!)
"$lockstep" publish --queue "$queue" -d "$1" -b "$2" --wait --timeout 60s "$tmp/tasks.jsonl"
echo
cat "$tmp/week.txt" "$tmp/told"
psql -X -d "$1" -c "SELECT \"order\", name, attempt, status, error FROM lockstep.execution_log WHERE queue = '$queue'
    ORDER BY \"order\", seq, attempt"
