#!/bin/bash
# scripts/demo.sh LOCKSTEP [--console]: five phases, ten tasks, two executors, five readers; and the proof from the data
# that no phase overlapped the one before. With --console the system stays up then, with the console, until Ctrl-C.
# ./dev demo builds LOCKSTEP and calls this.
set -euo pipefail

bin=$(realpath "$1")
stay=${2:-}
[ -z "$stay" ] || [ "$stay" = --console ] || {
    echo "demo: there is no $stay; it takes --console" >&2
    exit 2
}
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
pids=()

step() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
[ -t 1 ] || step() { printf '\n== %s\n' "$*"; }

fail() {
    echo "demo: $*" >&2
    exit 1
}

cleanup() {
    local rc=$? pid
    trap - EXIT
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait
    "$root/scripts/servers" stop "$work/servers"
    if [ "$rc" = 0 ]; then
        rm -rf "$work"
    else
        echo "demo: failed; the logs are in $work" >&2
    fi
    exit "$rc"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

psql() { "$LOCKSTEP_TEST_PGBIN/psql" -X -q -v ON_ERROR_STOP=1 -d "$pg" "$@"; }
# The options that tell where PostgreSQL and Kafka are; a configuration file of the user must not interfere.
lockstep() { "$bin" "$@" -d "$pg" -b "$brokers"; }
: >"$work/lockstep.conf"
export LOCKSTEP_CONFIG=$work/lockstep.conf

step 'A private PostgreSQL and the embedded broker'
"$root/scripts/servers" start "$work/servers" --no-kafka
# shellcheck disable=SC1091
. "$work/servers/env"
psql=$LOCKSTEP_TEST_PGBIN/psql
"$psql" -X -q -d "$LOCKSTEP_TEST_PG" -c 'CREATE DATABASE demo'
pg="$LOCKSTEP_TEST_PG dbname=demo"

: >"$work/broker.out" # the broker's process may be slow to make it
"$bin" dev broker --topic demo >"$work/broker.out" 2>"$work/broker.log" &
pids+=($!)
broker_pid=$!
for ((waited = 0; waited < 100; waited++)); do
    [ "$(wc -l <"$work/broker.out")" -eq 0 ] || break
    kill -0 "$broker_pid" 2>/dev/null || fail "the broker ended: $(cat "$work/broker.log")"
    sleep 0.1
done
brokers=$(head -n 1 "$work/broker.out")
[ -n "$brokers" ] || fail 'the broker does not say where it listens'
echo "PostgreSQL: $pg"
echo "broker:     $brokers"
echo "This broker is the embedded one (in memory, for trying things out); -b HOST:9092 points Lockstep at a real Kafka."

step 'The schema, and a queue of five readers'
lockstep migrate up
lockstep queue create demo --topic demo --max-readers 5

step 'Publishing examples/five_phases.csv, a tenth of its time'
awk -F '[()]' -v OFS= 'NR > 1 { $0 = $1 "(" $2 / 10 ")" } { print }' "$root/examples/five_phases.csv" |
    tee "$work/tasks.csv"
run=$(lockstep publish --queue demo --format csv -q "$work/tasks.csv")
echo "run $run"

step 'Two executors; the run, live'
for number in 1 2; do
    "$bin" executor run -d "$pg" -b "$brokers" --queue demo --readers 5 --until-idle >"$work/executor$number.log" 2>&1 &
    pids+=($!)
done
lockstep run watch "$run" || {
    tail -n 20 "$work"/executor*.log >&2
    fail "the run did not complete"
}

step 'The event log: lockstep log --run'
lockstep log --run "$run"

step 'The execution log: the view lockstep.execution_log'
psql -v run="$run" <<'END'
\pset footer off
SELECT "order", previous_order AS after, sql, status,
       to_char(started_at, 'HH24:MI:SS.MS') AS started, to_char(ended_at, 'HH24:MI:SS.MS') AS ended,
       to_char(extract(epoch FROM duration), 'FM990.000') AS seconds, left(executor_id::text, 8) AS executor
  FROM lockstep.execution_log WHERE run_id = :'run' ORDER BY started_at;
END

step 'The proof'
verdict=$(
    psql -At -F ' ' -v run="$run" <<'END'
WITH phase AS (
    SELECT "order", min(started_at) AS first_start, max(ended_at) AS last_end, count(*) AS tasks
      FROM lockstep.execution_log WHERE run_id = :'run' AND status = 'Completed' GROUP BY "order"),
gap AS (
    SELECT first_start - max(last_end) OVER (ORDER BY "order" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS gap
      FROM phase)
SELECT (SELECT sum(tasks) FROM phase), (SELECT count(*) FROM phase),
       (SELECT count(*) FROM gap WHERE gap < interval '0'),
       round((SELECT extract(epoch FROM max(last_end) - min(first_start)) FROM phase), 3),
       (SELECT round(extract(epoch FROM max(gap)) * 1000, 1) FROM gap);
END
)
read -r tasks phases overlaps makespan barrier <<<"$verdict"
echo "$tasks tasks in $phases phases took $makespan s; 4.15 s in the ideal case"
echo "longest time from the end of one phase to the start of the next: $barrier ms"
[ "$tasks/$phases" = 10/5 ] || fail 'ten tasks in five phases were expected'
[ "$overlaps" = 0 ] || fail "$overlaps phases started before the one before was done"
echo 'no phase overlapped the one before it'
[ -n "$stay" ] || exit 0

step 'The console; Ctrl-C ends all of it'
trap 'exit 0' INT TERM
# A run of three phases every 20 seconds, so that there is something to see. Nothing comes from the pipe: a sleep would
# be a process that lives on, with standard output, when this loop is ended.
exec {never}<> <(:)
until read -rt 20 -u "$never"; do
    for order in 1 2 3; do
        for _ in 1 2 3 4 5 6; do echo "{\"order\": $order, \"sql\": \"SELECT pg_sleep(random() * 4)\"}"; done
    done |
        lockstep publish --queue demo --name 'now and then' -q - >/dev/null
done &
pids+=($!)
listen=${LOCKSTEP_DEMO_LISTEN:-8330}
# Another console has it.
if [ "$listen" = 8330 ] && (exec 3<>/dev/tcp/127.0.0.1/8330) 2>/dev/null; then listen=127.0.0.1:0; fi
LOCKSTEP_CONSOLE_LOGIN=none LOCKSTEP_CONSOLE_ANONYMOUS=operator "$bin" all run -d "$pg" -b "$brokers" --queue demo \
    --readers 5 \
    --listen "$listen" >"$work/all.log" 2>&1 &
pids+=($!)
all_pid=$!
for ((waited = 0; waited < 300; waited++)); do
    grep -q 'event=console_started' "$work/all.log" && break
    kill -0 "$all_pid" 2>/dev/null || fail "the console did not start: $(grep -v '^ts=' "$work/all.log")"
    sleep 0.1
done
grep '^The console is at' "$work/all.log"
wait "$all_pid"
