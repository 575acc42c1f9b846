#!/bin/bash
# examples/report/run.sh CONNINFO BROKERS: a report as one task with four steps: SQL collects, a command renders, a
# request notifies a person, SQL notes that. The first request is refused with 503, so the second attempt begins with
# that step. The database has the schema (lockstep migrate up). Leaves a queue and the schema report behind, both named
# below; they must not be there before. When it does not come to its end it removes both, so that it can be run again.
# The topic is created if the broker lacks it. The embedded broker cannot create one, so start it with the topic:
#   lockstep dev broker --topic report
# Needs Python 3.
#   QUEUE          the queue and its topic (default: report)
#   PYTHON         the interpreter (default: /usr/bin/python3)
#   LOCKSTEP_BIN   the binary (default: lockstep)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# = 2 ] || { sed -n '2,11p' "$0" >&2; exit 2; }
fail() {
    echo "run.sh: $*" >&2
    exit 1
}
python=${PYTHON:-/usr/bin/python3}
"$python" -c 'import http.server' 2>/dev/null || fail "$python does not run; on Debian: apt-get install python3"
conninfo=$1 brokers=$2 lockstep=${LOCKSTEP_BIN:-lockstep} queue=${QUEUE:-report}
began='' pids=() tmp=$(mktemp -d)
leave() {
    local rc=$?
    trap - EXIT
    trap '' INT TERM
    [ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true
    wait || true
    if [ "$rc" != 0 ] && [ -n "$began" ]; then
        # It may not be made yet.
        "$lockstep" queue delete "$queue" --yes -q -d "$conninfo" -b "$brokers" 2>/dev/null || true
        psql -X -q -d "$conninfo" -c 'SET client_min_messages = warning; DROP SCHEMA IF EXISTS report CASCADE' || true
    fi
    rm -rf "$tmp"
    exit "$rc"
}
trap leave EXIT
trap 'exit 130' INT TERM

there=$(psql -X -q -At -v ON_ERROR_STOP=1 -v queue="$queue" -d "$conninfo" <<'END'
SELECT string_agg(x.what, ' and ')
FROM (SELECT 'schema report' WHERE to_regnamespace('report') IS NOT NULL
      UNION ALL SELECT 'queue ' || q.name FROM lockstep.queue q WHERE q.name = :'queue') x (what)
END
)
[ -z "$there" ] || fail "the database has $there already; this script makes its own"
began=1
psql -X -q -v ON_ERROR_STOP=1 -d "$conninfo" -c 'CREATE SCHEMA report
    CREATE TABLE sale (day int, amount numeric) CREATE TABLE line (name text, amount numeric, told_at timestamptz)'
"$python" "$here/receiver.py" "$tmp" >"$tmp/told" & pids+=($!)
until [ -e "$tmp/port" ]; do
    kill -0 "${pids[0]}" 2>/dev/null || fail 'the receiver has ended'
    sleep 0.1
done
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

# From the end: the topic may have the messages of a try that was broken off.
"$lockstep" queue create "$queue" -q --create-topic --from-end -d "$conninfo" -b "$brokers"
"$lockstep" executor run --config "$tmp/lockstep.conf" --queue "$queue" -d "$conninfo" -b "$brokers" \
    2>"$tmp/executor.log" &
pids+=($!)
"$lockstep" publish --queue "$queue" -d "$conninfo" -b "$brokers" --wait --timeout 60s "$tmp/tasks.jsonl"
echo
cat "$tmp/week.txt" "$tmp/told"
psql -X -d "$conninfo" -c "SELECT \"order\", name, attempt, status, error FROM lockstep.execution_log
    WHERE queue = '$queue' ORDER BY \"order\", seq, attempt"
