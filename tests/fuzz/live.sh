#!/bin/bash
# Fuzz, live: records that nobody should write go to a queue that a live executor serves, beside a queue whose tasks must not notice. Each
# round makes a queue, publishes records to it and waits until all are dealt with; then it looks for what must not be:
#   an offset that is neither a task, nor a rejected row, nor the end of a run, or that is two of them; a good record that did not run;
#   a task that is not finished, or lost an attempt; an incarnation that was lost; an attempt of the neighbour's that was lost.
# The first line printed is the seed, the last one counts. 0: nothing was found.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

usage() {
    cat <<'USAGE'
usage: tests/fuzz/live.sh [--minutes N] [--records N] [--seed S] [--round N] [--settle N] [--keep DIR]

  --minutes N   rounds are begun for so long; default: as many as --records takes
  --records N   so many records in all; default 100000, without end with --minutes
  --seed S      what is written; default: from the clock
  --round N     records a round; default 20000
  --settle N    a round must be finished so many seconds after the last progress; default 60
  --keep DIR    where the executor's log stays; default: kept only if something was found
LOCKSTEP_BIN names the binary, default build/release/lockstep; fuzz_records lies beside it. Servers of its own, unless it runs
under scripts/with-servers.
USAGE
}
minutes='' records='' seed=$(date +%s) round=20000 settle=60 keep=''
while [ $# -gt 0 ]; do
    case $1 in
    --minutes) minutes=$2 ;;
    --records) records=$2 ;;
    --seed) seed=$2 ;;
    --round) round=$2 ;;
    --settle) settle=$2 ;;
    --keep) keep=$2 ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
    esac
    shift 2
done
[ -n "$records" ] || { [ -n "$minutes" ] && records=1000000000 || records=100000; }
until_s=$((SECONDS + $(awk -v m="${minutes:-1000000}" 'BEGIN {print int(m * 60)}')))
echo "fuzz: seed $seed"

export LOCKSTEP_BIN=${LOCKSTEP_BIN:-$root/build/release/lockstep}
LOCKSTEP_BIN=$(realpath -m "$LOCKSTEP_BIN")
[ -x "${LOCKSTEP_BIN%/*}/fuzz_records" ] || { echo "fuzz: ${LOCKSTEP_BIN%/*}/fuzz_records is missing; ./dev build makes it" >&2 && exit 2; }
tmp=${keep:-$(mktemp -d)}
mkdir -p "$tmp"
own=''
if [ -z "${LOCKSTEP_TEST_PG:-}" ]; then
    own=$tmp/servers
    "$root/scripts/servers" start "$own" >/dev/null
    set -a
    . "$own/env"
    set +a
fi
. "$here/../support/shell.bash"
found=0
tidy() {
    jobs_end
    if [ -n "$own" ]; then "$root/scripts/servers" stop "$own"; else scratch_drop; fi
    [ -n "$keep" ] || [ "$found" != 0 ] || rm -rf "$tmp"
} >/dev/null 2>&1
trap tidy EXIT
violation() {
    echo "fuzz: VIOLATION: $*"
    found=$((found + 1))
}
is() { [ "$(sql "$1")" = "$2" ]; }

scratch_database 2>/dev/null
# The neighbour's first task of a round is an attempt that is as long as the round. It is a command, and no statement: a snapshot that is as
# old as the round would keep the dead rows of the whole database, and what was measured would be that.
printf '#!/bin/sh\nuntil [ -e %q ]; do sleep 0.1; done\n' "$tmp/go" >"$tmp/wait"
chmod 755 "$tmp" "$tmp/wait"
printf '[commands]\ntrue = /bin/true\nwait = %s\n\n[http]\nallow = 127.0.0.1:1\n' "$tmp/wait" >"$tmp/conf"
export LOCKSTEP_CONFIG=$tmp/conf
neighbour=$(scratch_name)
lockstep queue create "$neighbour" -q --create-topic --max-readers 2
{
    echo '{"order":1,"command":"wait"}'
    for ((i = 0; i < 100; i++)); do echo '{"order":1,"sql":"SELECT pg_sleep(0.05)"}'; done
} >"$tmp/neighbour.jsonl"

# one_round RECORDS SEED
one_round() {
    local q good sent log pid worker asked last=-1 at since
    q=$(scratch_name) log=$tmp/executor.$2.log
    lockstep queue create "$q" -q --create-topic --max-readers 4 --on-failure continue --runs concurrent --lookahead 1000 2>>"$tmp/log"
    rm -f "$tmp/go"
    lockstep publish --queue "$neighbour" -q "$tmp/neighbour.jsonl" >/dev/null
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --queue "$neighbour" --readers 6 2>"$log" &
    pid=$!
    # an external worker
    rm -f "$tmp/stop"
    { while [ ! -e "$tmp/stop" ] && sleep 0.1; do echo "DO \$\$DECLARE t record; BEGIN
            FOR n IN 1..500 LOOP
                SELECT * INTO t FROM lockstep.next_task('$q', 'fuzz ' || n);
                EXIT WHEN NOT FOUND;
                PERFORM lockstep.modify_task(t.task_id, t.updated_at, 'Completed');
            END LOOP;
        END\$\$;"; done; } |
        "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$db" >/dev/null 2>>"$tmp/worker.log" &
    worker=$!
    read -r sent good < <("${LOCKSTEP_BIN%/*}/fuzz_records" "$LOCKSTEP_TEST_BROKERS" "$q" "$1" "$2")
    since=$SECONDS
    while :; do
        at=$(sql "SELECT q.next_offset, (SELECT count(*) FROM lockstep.task t WHERE t.queue_id = q.queue_id AND t.status IN ('Pending', 'Processing', 'Error', 'Paused'))
                  FROM lockstep.queue q WHERE q.name = '$q'")
        [ "$at" != "$sent|0" ] || break
        [ "$at" = "$last" ] || since=$SECONDS
        last=$at
        if [ $((SECONDS - since)) -gt "$settle" ]; then
            violation "round $2 stands still: cursor|unfinished is $at, wanted $sent|0"
            lockstep queue explain "$q" || true
            {
                sql "SELECT 'run', r.run_no, r.run_id, r.implicit, r.status, r.first_offset, r.end_offset, r.after_run_no, r.last_phase_id FROM lockstep.run r JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$q' AND r.ended_at IS NULL ORDER BY 2"
                sql "SELECT 'phase', p.* FROM lockstep.phase p JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$q' AND p.done_at IS NULL ORDER BY 2"
                sql "SELECT 'task', t.task_id, t.phase_id, t.status, t.executor_no, t.token, t.attempt_num, t.scheduled_for, t.needs, t.type, left(t.payload, 200) FROM lockstep.task t JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$q' AND t.status IN ('Pending', 'Processing', 'Error', 'Paused') ORDER BY 2"
                sql "SELECT 'lock', l.pid, l.mode, l.granted, l.classid, l.objid, a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' ORDER BY 2"
                sql "SELECT 'session', pid, application_name, state, wait_event, clock_timestamp() - query_start, left(query, 200) FROM pg_stat_activity WHERE datname = current_database()"
            } >"$tmp/standstill.$2"
            sql "SELECT t.task_id, t.status, t.type, t.error, left(t.payload, 300) FROM lockstep.task t JOIN lockstep.queue q USING (queue_id)
                 WHERE q.name = '$q' AND t.status IN ('Pending', 'Processing', 'Error', 'Paused') ORDER BY 1 LIMIT 5"
            break
        fi
        sleep 0.2
    done
    touch "$tmp/go"
    eventually 60 is "SELECT count(*) FROM lockstep.task t JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$neighbour' AND t.status <> 'Completed'" 0 ||
        violation "round $2: the neighbour's tasks did not end"
    judge "$q" "$2" "$sent" "$good"
    asked=$(grep -c 'event=incarnation_lost' "$log" || true)
    [ "$asked" = 0 ] || violation "round $2: $asked incarnations were lost: $(grep -m 1 'event=incarnation_lost' "$log")"
    kill -TERM "$pid"
    wait "$pid" || violation "round $2: the executor ended with $?"
    touch "$tmp/stop"
    wait "$worker" || violation "round $2: the external worker ended with $?: $(head -n 1 "$tmp/worker.log")"
    total=$((total + sent))
    echo "fuzz: round $2: $sent records, $(sql "SELECT count(*) FILTER (WHERE t.status = 'Completed') || ' completed, ' || count(*) FILTER (WHERE t.status = 'Failed') || ' failed, '
        || (SELECT count(*) FROM lockstep.rejected_message m WHERE m.queue_id = q.queue_id) || ' rejected'
        FROM lockstep.queue q LEFT JOIN lockstep.task t USING (queue_id) WHERE q.name = '$q' GROUP BY q.queue_id"), $(grep -c 'event=claim_refused' "$log" || true) claims refused, $SECONDS s"
}

# judge QUEUE SEED SENT GOOD: what must not be
judge() {
    local wrong
    wrong=$(sql "
        WITH q AS (SELECT queue_id FROM lockstep.queue WHERE name = '$1'),
        t AS (SELECT t.* FROM lockstep.task t JOIN q USING (queue_id)),
        m AS (SELECT m.* FROM lockstep.rejected_message m JOIN q USING (queue_id)),
        seen AS (SELECT kafka_offset AS o FROM t UNION ALL SELECT kafka_offset FROM m)
        SELECT format('offset %s is there %s times', o, count(*)) FROM seen GROUP BY o HAVING count(*) > 1
        UNION ALL SELECT format('offset %s is nowhere', o) FROM generate_series(0, $3 - 1) AS o
            WHERE o NOT IN (SELECT o FROM seen) AND o NOT IN (SELECT r.end_offset FROM lockstep.run r JOIN q USING (queue_id) WHERE r.end_offset IS NOT NULL)
        UNION ALL SELECT format('%s of $4 good tasks are completed', count(*)) FROM t WHERE name = 'good' AND status = 'Completed' HAVING count(*) <> $4
        UNION ALL SELECT format('task %s (offset %s) lost %s attempts: %s: %s', task_id, kafka_offset, lost_num, error, left(payload, 300)) FROM t WHERE lost_num > 0
        UNION ALL SELECT format('task %s of the neighbour: %s, attempt %s, %s lost', k.task_id, k.status, k.attempt_num, k.lost_num)
            FROM lockstep.task k JOIN lockstep.queue n USING (queue_id) WHERE n.name = '$neighbour' AND (k.lost_num > 0 OR k.attempt_num <> 1)")
    [ -z "$wrong" ] || while read -r line; do violation "round $2: $line"; done < <(head -n 20 <<<"$wrong")
}

total=0 number=0
while [ "$total" -lt "$records" ] && [ "$SECONDS" -lt "$until_s" ]; do
    left=$((records - total))
    one_round $((left < round ? left : round)) $((seed * 1000 + number))
    number=$((number + 1))
done
[ "$found" = 0 ] || echo "fuzz: the executors' logs are in $tmp"
echo "fuzz: $total records in $number rounds, $SECONDS s, $found violations"
[ "$found" = 0 ]
