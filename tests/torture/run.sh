#!/bin/bash
# Torture: executors, publishers and servers are killed, frozen, cut off and restarted while runs go through; then everything
# must come to its end, and the checker looks for what must not be. The first line printed is the seed: it decides every choice
# (not the timing). The last line counts. 0: no violation.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

usage() {
    cat <<'USAGE'
usage: tests/torture/run.sh [--minutes N | --seconds N] [--seed S] [--faults LIST] [--servers DIR] [--sql FILE] [--keep DIR]

  --minutes N    how long faults are made; default 5
  --seed S       what is chosen; default: from the clock
  --faults LIST  only these, in such numbers: "kill_executor 2 make_zombie 1"; the names are in nemesis.bash
  --servers DIR  servers of scripts/servers that run already; default: its own, with --fsync off
  --sql FILE     run in the scratch database before anything else: plants a defect (planted.sh)
  --keep DIR     where the logs stay; default: kept only if something was found
LOCKSTEP_BIN names the binary; default build/release/lockstep.
USAGE
}
seconds=300 seed=$(date +%s) only='' servers='' plant='' keep=''
while [ $# -gt 0 ]; do
    case $1 in
    --minutes) seconds=$(awk -v m="$2" 'BEGIN {print int(m * 60)}') ;;
    --seconds) seconds=$2 ;;
    --seed) seed=$2 ;;
    --faults) only=$2 ;;
    --servers) servers=$2 ;;
    --sql) plant=$2 ;;
    --keep) keep=$2 ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
    esac
    shift 2
done
seed=$((10#$seed % 1000000000))
echo "torture: seed $seed, $seconds s"

export LOCKSTEP_BIN=${LOCKSTEP_BIN:-$root/build/release/lockstep} PGCONNECT_TIMEOUT=3
LOCKSTEP_BIN=$(realpath -m "$LOCKSTEP_BIN")
[ -x "$LOCKSTEP_BIN" ] || { echo "torture: $LOCKSTEP_BIN is missing; ./dev build makes it" >&2 && exit 2; }
[ -z "$plant" ] || plant=$(realpath "$plant")
tmp=${keep:-$(mktemp -d)}
mkdir -p "$tmp"
tmp=$(cd "$tmp" && pwd)
chmod 755 "$tmp"
own='' kept=$keep
if [ -z "$servers" ]; then
    own=yes servers=$tmp/servers
    "$root/scripts/servers" start "$servers" >/dev/null
fi
unset KAFKA_LIBS_DIR
tidy() {
    local p
    touch "$tmp/stop"
    for p in $(jobs -p); do kill -CONT "$p" 2>/dev/null && kill -KILL "$p" 2>/dev/null; done
    kill -CONT "$(broker_pid)" 2>/dev/null
    if [ -n "$own" ]; then "$root/scripts/servers" stop "$servers"; else scratch_drop; fi
    [ -n "$kept" ] || rm -rf "$tmp"
} >/dev/null 2>&1
set -a
. "$servers/env"
set +a
. "$here/../support/shell.bash"
. "$here/load.bash"
. "$here/nemesis.bash"
cd "$tmp" # a core stays with the logs
ulimit -c unlimited || true
trap tidy EXIT
trap 'exit 130' INT TERM

# The stage.
scratch_database
data=$(sql 'SHOW data_directory')
mapfile -d '' broker <"/proc/$(broker_pid)/cmdline"
load_create
q1=$(scratch_name) q2=$(scratch_name)
lockstep queue create "$q1" -q --create-topic --max-readers 6 --on-failure continue
lockstep queue create "$q2" -q --create-topic --max-readers 3 --on-failure stop
[ -z "$plant" ] || "$LOCKSTEP_TEST_PGBIN/psql" -X -q -v ON_ERROR_STOP=1 -d "$db" -f "$plant"
log_from=$(wc -l <"$LOCKSTEP_TEST_HOME/postgres.log")
touch "$tmp/published" "$tmp/violations"
RANDOM=$((seed % 32768))
for i in 0 1 2 3; do executor_start $i; done
load_publish "$q1" $((seed % 32749 + 1)) 40 &
publishers=($!)
load_publish "$q2" $((seed % 32719 + 2)) 100 &
publishers+=($!)

nemesis "$seconds"

# The faults are over: the publishers finish, one more run on each queue settles what a killed one left, and all comes to its end.
touch "$tmp/stop"
sleep $((thawed > SECONDS + 3 ? thawed - SECONDS : 3)) # the last frozen one thaws
wait "${publishers[@]}"
last=''
last_run() { # QUEUE: under a new id each time, one that was begun is not taken twice
    local run
    run=$(cat /proc/sys/kernel/random/uuid)
    printf '{"order": 1, "name": "0", "sql": "SELECT work('"'%s', '%s'"', 1, 0, 0)"}\n' "$1" "$run" >"$tmp/last.jsonl"
    lockstep publish --queue "$1" -q --run "$run" "$tmp/last.jsonl" >/dev/null 2>>"$tmp/publish.log" &&
        last+=" '$run',"
}
for q in "$q1" "$q2"; do
    eventually 40 last_run "$q" 2>/dev/null || bad "$q: nothing can be published any more: $(tail -n 2 "$tmp/publish.log")"
done
on_topic() { timeout 30 kcat -C -b "$LOCKSTEP_TEST_BROKERS" -t "$1" -o beginning -e -q -X isolation.level=read_committed -f "$1,%o\n"; }
all_ended() {
    executors_look
    [ "$(sql "SELECT count(*) FILTER (WHERE ended_at IS NULL), count(*) FILTER (WHERE run_id::text IN (${last%,})) FROM lockstep.run" 2>/dev/null)" = "0|2" ]
}
if ! eventually 30 all_ended 2>/dev/null; then
    bad 'not everything came to its end within 30 s'
    {
        lockstep lock list || true
        sql "SELECT queue, run_id, status, tasks, pending, processing, error, completed, rejected, \"order\" FROM lockstep.run_status WHERE ended_at IS NULL" || true
        sql "SELECT name, next_offset, halted_reason FROM lockstep.queue" || true
        sql "SELECT t.task_id, t.phase_id, t.status, t.executor_no, t.attempt_num, t.scheduled_for, e.ended_at FROM lockstep.task t LEFT JOIN lockstep.executor e USING (executor_no) WHERE t.status NOT IN ('Completed', 'Failed', 'Cancelled') ORDER BY 1 LIMIT 30" || true
        sql "SELECT phase_id, run_no, \"order\", opened_at, done_at FROM lockstep.phase WHERE done_at IS NULL ORDER BY 1 LIMIT 20" || true
        tail -n 5 "$tmp"/executor.*.log
    } >"$tmp/hang.txt" 2>&1
    head -n 60 "$tmp/hang.txt"
    kept=$tmp
fi
executors_look
fd_report=''
for i in "${!pid[@]}"; do
    executor_fds "$i"
    kill -TERM "${pid[$i]}"
    leaving[${pid[$i]}]=${log[$i]}
done
leavers_look

# The checker.
for q in "$q1" "$q2"; do on_topic "$q"; done >"$tmp/on_topic.csv" || bad 'the topic cannot be read'
sql 'CREATE TABLE on_topic (q text, o bigint); CREATE TABLE published (q text, run uuid, tasks int, status int, killed text, way text)'
sql '\copy on_topic FROM STDIN CSV' <"$tmp/on_topic.csv"
sql "\\copy published FROM STDIN WITH (DELIMITER ' ')" <"$tmp/published"
eventually 10 test "$(sql "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'lockstep/%'")" = 0 2>/dev/null || true
"$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -v ON_ERROR_STOP=1 -d "$db" -f "$here/check.sql" >"$tmp/found" 2>&1 || echo 'the checker failed' >>"$tmp/found"
while read -r line; do bad "$line"; done < <(head -n 40 "$tmp/found")
while read -r line; do bad "server: $line"; done < <(tail -n +$((log_from + 1)) "$LOCKSTEP_TEST_HOME/postgres.log" | grep -E 'LOG:  torture:|signal 11|signal 6|PANIC' | head -n 10)
while read -r line; do bad "log: $line"; done < <(grep -iE 'please report|internal error|sanitizer|runtime error:|assertion' "$tmp"/executor.*.log "$tmp/publish.log" 2>/dev/null | head -n 10)
while read -r line; do bad "core: $line"; done < <(find "$tmp" -maxdepth 1 -name "core*")
while read -r line; do bad "publisher: $line"; done < <(awk '($5 != "yes" && $4 > 8) || $4 == 70' "$tmp/published")

# The report.
total=0
for fault in $(printf '%s\n' "${!counts[@]}" | sort); do
    printf '%6d  %s\n' "${counts[$fault]}" "$fault"
    total=$((total + counts[$fault]))
done
printf '%6d  kill_publisher\n' "$(grep -c ' yes ' "$tmp/published" || true)"
sql "SELECT format('torture: %s runs (%s), %s tasks, %s attempts lost, %s failed, %s records on the topic', (SELECT count(*) FROM lockstep.run),
     (SELECT string_agg(n || ' ' || status, ', ' ORDER BY status) FROM (SELECT status, count(*) AS n FROM lockstep.run GROUP BY 1) s),
     count(*), sum(lost_num), count(*) FILTER (WHERE status = 'Failed'), (SELECT count(*) FROM on_topic)) FROM lockstep.task"
echo "torture: descriptors of the last executors:$fd_report"
violations=$(wc -l <"$tmp/violations")
if [ "$violations" != 0 ]; then
    kept=$tmp
    cp "$LOCKSTEP_TEST_HOME/postgres.log" "$tmp/" 2>/dev/null || true
    "$LOCKSTEP_TEST_PGBIN/pg_dump" -d "$db" >"$tmp/dump.sql" 2>/dev/null || true
    echo "torture: the logs and the database are in $tmp"
fi
echo "torture: seed $seed: $total faults, $executors_started executors, $violations violations"
[ "$violations" = 0 ]
tasks=$(completed)
[ "$tasks" -ge 100 ] || { echo "torture: but only $tasks tasks were completed: that proves nothing" && exit 3; }
