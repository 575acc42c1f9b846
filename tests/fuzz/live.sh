#!/bin/bash
# Fuzz, live: records that no producer should write go to queues that live executors serve, next to queues whose tasks
# must not notice. Each round makes queues, publishes records to them and waits until all are dealt with; then it looks
# for the violations:
#   an offset that is neither a task, nor a rejected row, nor the end of a run, or that is two of them; a good record
#   that did not run; a task that is not finished, or lost an attempt; a rejected row without its dead letter; an
#   incarnation that was lost; an attempt of a neighbour's that was lost.
# Records that rightly hold up a queue are among them; an operator releases it.
# The first line printed is the seed, the last two count; each round is reported as a case. 0: nothing was found.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

usage() {
    cat <<'USAGE'
usage: tests/fuzz/live.sh [--minutes N] [--records N] [--seed S] [--round N] [--queues N]
                          [--executors N] [--settle N] [--keep DIR]

  --minutes N   rounds are begun for so long; default: as many as --records takes
  --records N   so many records in all; default 100000, without end with --minutes
  --seed S      what is written; default: from the clock
  --round N     records a round; default 50000
  --queues N    queues that they go to, each with a neighbour; default 2
  --executors N executors, each of which serves all of them; default 2, and in each second round one less
  --settle N    a round must be finished so many seconds after the last progress; default 120
  --keep DIR    where the executors' logs stay; default: only those of rounds in which something was found
LOCKSTEP_BIN names the binary, default build/release/lockstep; fuzz_records lies beside it. Servers of its own, unless
it runs under scripts/with-servers.
USAGE
}
minutes='' records='' seed=$(date +%s) round=50000 queues=2 executors=2 settle=120 keep=''
while [ $# -gt 0 ]; do
    case $1 in
    --minutes) minutes=$2 ;;
    --records) records=$2 ;;
    --seed) seed=$2 ;;
    --round) round=$2 ;;
    --queues) queues=$2 ;;
    --executors) executors=$2 ;;
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
[ -x "${LOCKSTEP_BIN%/*}/fuzz_records" ] ||
    { echo "fuzz: ${LOCKSTEP_BIN%/*}/fuzz_records is missing; ./dev build makes it" >&2 && exit 2; }
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
. "$here/../support/cases.bash"
found=0
tidy() {
    jobs_end
    if [ -n "$own" ]; then "$root/scripts/servers" stop "$own"; else scratch_drop; fi
    [ -n "$keep" ] || [ "$found" != 0 ] || rm -rf "$tmp"
} >/dev/null 2>&1
trap tidy EXIT
violation() {
    echo "fuzz: VIOLATION: $*"
    found=$((found + 1)) failed=1
}
scratch_database 2>/dev/null
# A neighbour's first task of a round is an attempt that is as long as the round. It is a command, and no statement: a
# snapshot that is as old as the round would keep the dead rows of the whole database, and the measure would be
# that.
printf '#!/bin/sh\nuntil [ -e %q ]; do sleep 0.5; done\n' "$tmp/go" >"$tmp/wait"
chmod 755 "$tmp" "$tmp/wait"
rm -f "$tmp/port"
python3 "$here/http_server.py" "$tmp" 2>"$tmp/http.log" &
eventually 60 test -s "$tmp/port" || { cat "$tmp/http.log" >&2 && exit 1; }
printf \
    '[commands]\ntrue = /bin/true\nwait = %s\n\n[http]\nallow = 127.0.0.1:%s\ntimeout = 2s\nresponse_limit = 2000B\n' \
    "$tmp/wait" "$(cat "$tmp/port")" >"$tmp/conf"
export LOCKSTEP_CONFIG=$tmp/conf
neighbours=()
for ((n = 0; n < queues; n++)); do
    neighbours[n]=$(scratch_name)
    lockstep queue create "${neighbours[n]}" -q --create-topic --max-readers 2
done
{
    echo '{"order":1,"command":"wait"}'
    for ((i = 0; i < 100; i++)); do echo '{"order":1,"sql":"SELECT pg_sleep(0.05)"}'; done
} >"$tmp/neighbour.jsonl"

# open_queues: the queues of a round, in $names
open_queues() {
    local n
    names=()
    rm -f "$tmp/go" "$tmp/stop"
    for ((n = 0; n < queues; n++)); do
        names[n]=$(scratch_name)
        lockstep queue create "${names[n]}" -q --create-topic --max-readers 4 --on-failure continue --runs concurrent \
            --lookahead 1000 2>>"$tmp/log"
        lockstep publish --queue "${neighbours[n]}" -q "$tmp/neighbour.jsonl" >/dev/null
    done
    all=$(printf "'%s'," "${names[@]}")
    all=${all%,}
}

# start_executors SEED HOW_MANY: their numbers are in $pids
start_executors() {
    local n all_of=()
    pids=()
    for n in "${names[@]}" "${neighbours[@]}"; do all_of+=(--queue "$n"); done
    for ((n = 0; n < $2; n++)); do
        "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" "${all_of[@]}" --readers 6 \
            2>"$tmp/executor.$1.$n.log" &
        pids[n]=$!
    done
}

# An external worker of all queues of the round.
work() {
    while [ ! -e "$tmp/stop" ] && sleep 0.3; do
        echo "DO \$\$DECLARE t record; q text; BEGIN
            FOREACH q IN ARRAY ARRAY[$all] LOOP
                FOR n IN 1..500 LOOP
                    SELECT * INTO t FROM lockstep.next_task(q, 'fuzz ' || n);
                    EXIT WHEN NOT FOUND;
                    PERFORM lockstep.modify_task(t.task_id, t.updated_at, 'Completed');
                END LOOP;
            END LOOP;
        END\$\$;"
    done | "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$db" >/dev/null 2>>"$tmp/worker.log"
}

unfinished="t.status IN ('Pending', 'Processing', 'Error', 'Paused')"

# still SEED: the state of a round that makes no progress
still() {
    local q
    for q in "${names[@]}"; do lockstep queue explain "$q" || true; done
    {
        sql "SELECT 'run', q.name, r.run_no, r.run_id, r.implicit, r.status, r.first_offset, r.end_offset,
                r.after_run_no, r.last_phase_id
            FROM lockstep.run r JOIN lockstep.queue q USING (queue_id) WHERE q.name IN ($all) AND r.ended_at IS NULL
            ORDER BY 2, 3"
        sql "SELECT 'phase', p.* FROM lockstep.phase p JOIN lockstep.queue q USING (queue_id)
            WHERE q.name IN ($all) AND p.done_at IS NULL ORDER BY 2"
        sql "SELECT 'task', t.task_id, t.phase_id, t.status, t.executor_no, t.token, t.attempt_num, t.scheduled_for,
                t.needs, t.type, left(t.payload, 200)
            FROM lockstep.task t JOIN lockstep.queue q USING (queue_id) WHERE q.name IN ($all) AND $unfinished
            ORDER BY 2"
        sql "SELECT 'letter', o.* FROM lockstep.outbox o JOIN lockstep.queue q USING (queue_id) WHERE q.name IN ($all)
            ORDER BY 2 LIMIT 100"
        sql "SELECT 'lock', l.pid, l.mode, l.granted, l.classid, l.objid, a.application_name
            FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' ORDER BY 2"
        sql "SELECT 'session', pid, application_name, state, wait_event, clock_timestamp() - query_start,
                left(query, 200)
            FROM pg_stat_activity WHERE datname = current_database()"
    } >"$tmp/standstill.$1"
    sql "SELECT t.task_id, t.status, t.type, t.error, left(t.payload, 300)
         FROM lockstep.task t JOIN lockstep.queue q USING (queue_id)
         WHERE q.name IN ($all) AND $unfinished ORDER BY 1 LIMIT 5"
}

# operate: an operator releases what rightly holds up its queue: a task that is due much later (also because a server
# said so) is tried at once, one whose command no executor knows is cancelled, a queue with a run of which nothing is
# known continues without its beginning, a run whose end never comes is ended (records without a run wait for the run
# before them).
operate() {
    local verb id
    while IFS='|' read -r verb id; do
        case $verb in
        '') continue ;;
        resume) lockstep queue resume "$id" -q --accept-topic --reason fuzz ;;
        end) lockstep run end "$id" -q --reason fuzz ;;
        *) lockstep task "$verb" "$id" -q --reason fuzz ;;
        esac >>"$tmp/operator.log" 2>&1 || true # by now it may have ended; a run that does not end is seen
        released=$((released + 1))
    done < <(sql "SELECT 'resume', q.name FROM lockstep.queue q
                  WHERE q.name IN ($all) AND q.halted_reason = 'unknown_run'
                  UNION ALL
                  SELECT 'end', r.run_id::text FROM lockstep.run r JOIN lockstep.queue q USING (queue_id)
                  WHERE q.name IN ($all) AND r.ended_at IS NULL AND r.end_offset IS NULL AND NOT r.implicit
                    AND lockstep.run_endless(r.run_no)
                    AND EXISTS (SELECT FROM lockstep.task t WHERE t.run_no = r.run_no AND t.name = 'held')
                  UNION ALL
                  (SELECT CASE WHEN t.type = 'command' AND t.name = 'held' THEN 'cancel' ELSE 'retry' END,
                          t.task_id::text
                   FROM lockstep.task t JOIN lockstep.queue q USING (queue_id)
                   WHERE q.name IN ($all) AND $unfinished
                     AND (t.scheduled_for > clock_timestamp() + interval '10 s'
                          OR t.type = 'command' AND t.name = 'held')
                   LIMIT 20)")
}

# await SEED: until each queue's cursor is where its records end, no task or run is unfinished and no dead letter is
# left
await() {
    local n at last=-1 since=$SECONDS wanted
    wanted=$(for ((n = 0; n < queues; n++)); do echo "${names[n]}|${sent[n]}|0|0|0"; done | sort)
    while :; do
        at=$(sql "SELECT q.name, q.next_offset,
                         (SELECT count(*) FROM lockstep.task t WHERE t.queue_id = q.queue_id AND $unfinished),
                         (SELECT count(*) FROM lockstep.outbox o WHERE o.queue_id = q.queue_id),
                         (SELECT count(*) FROM lockstep.run r
                          WHERE r.queue_id = q.queue_id AND r.ended_at IS NULL AND NOT r.implicit)
                  FROM lockstep.queue q WHERE q.name IN ($all) ORDER BY q.name COLLATE \"C\"")
        [ "$at" != "$wanted" ] || return 0
        [ "$at" = "$last" ] || since=$SECONDS
        last=$at
        if [ $((SECONDS - since)) -gt "$settle" ]; then
            violation "round $1 stands still: queue|cursor|unfinished|letters|runs is $at, wanted $wanted"
            still "$1"
            return 0
        fi
        operate
        sleep 0.5
    done
}

neighbours_done() {
    local them
    them=$(printf "'%s'," "${neighbours[@]}")
    [ "$(sql "SELECT count(*) FROM lockstep.task t JOIN lockstep.queue q USING (queue_id)
        WHERE q.name IN (${them%,}) AND t.status <> 'Completed'")" = 0 ]
}

# one_round RECORDS SEED
one_round() {
    local n worker publishers=() logs="$tmp/executor.$2.*.log" before=$found lost from=$SECONDS count
    case_begin "round $2: each record is a task, a rejected row or an end, good ones ran, no neighbour lost an attempt"
    open_queues
    pids=() # now, so that they claim what has just come, or when all is there
    [ $((number % 2)) = 1 ] || start_executors "$2" "$executors"
    for ((n = 0; n < queues; n++)); do
        "${LOCKSTEP_BIN%/*}/fuzz_records" "$LOCKSTEP_TEST_BROKERS" "${names[n]}" $((($1 + queues - 1) / queues)) \
            $(($2 * 16 + n)) "http://127.0.0.1:$(cat "$tmp/port")" >"$tmp/sent.$n" &
        publishers[n]=$!
    done
    sent=() good=()
    for ((n = 0; n < queues; n++)); do
        wait "${publishers[n]}"
        read -r "sent[n]" "good[n]" <"$tmp/sent.$n"
        total=$((total + sent[n]))
    done
    [ ${#pids[@]} -gt 0 ] || start_executors "$2" $((executors > 1 ? executors - 1 : 1))
    work &
    worker=$!
    released=0
    await "$2"
    touch "$tmp/go"
    eventually "$settle" neighbours_done || violation "round $2: the neighbours' tasks did not end"
    for ((n = 0; n < queues; n++)); do judge "$2" "${names[n]}" "${neighbours[n]}" "${sent[n]}" "${good[n]}"; done
    # shellcheck disable=SC2086 # a pattern
    lost=$(cat $logs | grep -c 'event=incarnation_lost' || true)
    [ "$lost" = 0 ] ||
        violation "round $2: $lost incarnations were lost: $(cat $logs | grep -m 1 'event=incarnation_lost')"
    memory=$(for n in "${pids[@]}"; do
        awk '/^VmRSS/ {r = $2} /^VmHWM/ {h = $2} END {printf "%d (at most %d) ", r / 1024, h / 1024}' \
            "/proc/$n/status"
    done)
    for n in "${pids[@]}"; do
        kill -TERM "$n" || true
        wait "$n" || violation "round $2: an executor ended with $?"
    done
    touch "$tmp/stop"
    wait "$worker" || violation "round $2: the external worker ended with $?: $(head -n 1 "$tmp/worker.log")"
    count=$(sql "SELECT concat_ws(', ',
        (SELECT count(*) || ' completed' FROM lockstep.task t JOIN lockstep.queue q USING (queue_id)
         WHERE q.name IN ($all) AND t.status = 'Completed'),
        (SELECT count(*) || ' failed' FROM lockstep.task t JOIN lockstep.queue q USING (queue_id)
         WHERE q.name IN ($all) AND t.status = 'Failed'),
        (SELECT count(*) || ' of them requests' FROM lockstep.task t JOIN lockstep.queue q USING (queue_id)
         WHERE q.name IN ($all) AND t.type = 'http'),
        (SELECT count(*) || ' rejected' FROM lockstep.rejected_message m JOIN lockstep.queue q USING (queue_id)
         WHERE q.name IN ($all)))")
    # shellcheck disable=SC2086
    echo "fuzz: round $2: $total records so far; $count, $(cat $logs | grep -c 'event=claim_refused' ||
        true) claims refused, $released released, $lost incarnations lost, MiB $memory, $((SECONDS - from)) s"
    # shellcheck disable=SC2086
    [ -n "$keep" ] || [ "$found" != "$before" ] || rm -f $logs
}

# judge SEED QUEUE NEIGHBOUR SENT GOOD: the violations
judge() {
    local wrong
    wrong=$(sql "
        WITH q AS (SELECT queue_id FROM lockstep.queue WHERE name = '$2'),
        t AS (SELECT t.* FROM lockstep.task t JOIN q USING (queue_id)),
        m AS (SELECT m.* FROM lockstep.rejected_message m JOIN q USING (queue_id)),
        seen AS (SELECT kafka_offset AS o FROM t UNION ALL SELECT kafka_offset FROM m)
        SELECT format('offset %s is there %s times', o, count(*)) FROM seen GROUP BY o HAVING count(*) > 1
        UNION ALL SELECT format('offset %s is nowhere', n.o)
        FROM (SELECT generate_series(0, $4 - 1) AS o EXCEPT SELECT o FROM seen
            EXCEPT SELECT r.end_offset FROM lockstep.run r JOIN q USING (queue_id) WHERE r.closed_by IS NULL) AS n
        UNION ALL SELECT format('offset %s is none of ours', o) FROM seen WHERE o NOT BETWEEN 0 AND $4 - 1
        UNION ALL SELECT format('%s of $5 good tasks are completed', count(*)) FROM t
        WHERE name = 'good' AND status = 'Completed' HAVING count(*) <> $5
        UNION ALL SELECT format('task %s (offset %s) lost %s attempts: %s: %s', task_id, kafka_offset, lost_num,
                                error, left(payload, 300))
        FROM t WHERE lost_num > 0
        UNION ALL SELECT format('rejected message %s (offset %s) has no dead letter', rejected_id, kafka_offset)
        FROM m WHERE dead_lettered_at IS NULL
        UNION ALL SELECT format('run %s has not ended', r.run_id) FROM lockstep.run r JOIN q USING (queue_id)
        WHERE r.ended_at IS NULL AND NOT r.implicit
        UNION ALL SELECT format('task %s of the neighbour: %s, attempt %s, %s lost', k.task_id, k.status,
                                k.attempt_num, k.lost_num)
            FROM lockstep.task k JOIN lockstep.queue n USING (queue_id)
            WHERE n.name = '$3' AND (k.lost_num > 0 OR k.attempt_num <> 1)")
    [ -z "$wrong" ] || while read -r line; do violation "round $1: $line"; done < <(head -n 20 <<<"$wrong")
}

total=0 number=0
while [ "$total" -lt "$records" ] && [ "$SECONDS" -lt "$until_s" ]; do
    left=$((records - total))
    one_round $((left < round ? left : round)) $((seed * 1000 + number))
    number=$((number + 1))
done
cases_end
[ "$found" = 0 ] || echo "fuzz: the executors' logs are in $tmp"
echo "fuzz: in all: $(sql "SELECT concat_ws(', ', (SELECT count(*) || ' tasks' FROM lockstep.task),
    (SELECT count(*) || ' rejected rows' FROM lockstep.rejected_message),
    (SELECT sum(t.attempt_num) || ' attempts of ' || count(*) || ' tasks of the neighbours'
     FROM lockstep.task t JOIN lockstep.queue q USING (queue_id)
     WHERE q.name = ANY (string_to_array('${neighbours[*]}', ' '))))")"
echo "fuzz: $total records in $number rounds, $SECONDS s, $found violations"
[ "$found" = 0 ]
