#!/bin/bash
# A backup is restored to a moment in the middle of a run, and then a dump of it on another server. Executors that are
# still there continue from the cursor of the backup and reach the same end effects; on the other server they do nothing
# until an operator accepts it. A copy of the database publishes nothing on the topic of the original before that.
# ctest: nosan timeout=180 long
. "$(dirname "$0")/../support/begin.bash"
. "$here/../support/cluster.bash"
e2e_leave() { cluster_close; }
cluster_open
mkdir -m 777 "$cluster/archive" "$cluster/address"
pg_init a archive_mode=on "archive_command=cp %p $cluster/archive/%f"
pg_start a
db=$(pg_conninfo a)
"$LOCKSTEP_BIN" migrate up -q -d "$db" >/dev/null
ledger_create
hold_create
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 6
pg_as_owner "$LOCKSTEP_TEST_PGBIN/pg_basebackup" -d "$db" -D "$cluster/base" -c fast -X none --no-sync 2>/dev/null

lead_to() { ln -sfn "$cluster/.s.PGSQL.${pg_ports[$1]}" "$cluster/address/.s.PGSQL.6000"; }
lead_to a
for i in 1 2; do # they know one address, which leads to the present database
    "$LOCKSTEP_BIN" executor run -d "host=$cluster/address port=6000 user=lockstep_test dbname=postgres" \
        -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 3 2>>"$tmp/$i.log" &
    executors+=($!)
done
effects() { [ "$(sql "SELECT count(*) >= $1 FROM ledger WHERE ord >= $base" 2>/dev/null)" = t ]; }
completed() { [ "$(sql "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" 2>/dev/null)" = Completed ]; }
publish() { # FIRST_ORDER: a task of its fifth phase waits until it is let go
    local i held
    base=$1
    for ((i = 0; i < 600; i++)); do
        held=''
        [ "$i" != 450 ] || held="hold('$base'), "
        echo "{\"order\": $((base + i / 100)), \"sql\": \"SELECT ${held}work('$q', $((base + i / 100)), $i, 0.02)\"}"
    done >"$tmp/tasks.jsonl"
    run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
}
let_go() { sql "INSERT INTO let_go VALUES ('$base')"; }
judge() {
    eventually 40 completed || { failed=1; lockstep run show "$run"; }
    expect "$1" "$(ledger_check "$q" 6 | grep -v '^a lock is left' || true)" ''
}

case_begin 'after a restore to an earlier moment each effect is there once'
publish 1
eventually 30 effects 250
moment=$(sql 'SELECT clock_timestamp()')
let_go
judge 'before the restore'
sql 'SELECT ord, seq FROM ledger ORDER BY 1, 2' >"$tmp/effects"
cursor=$(sql 'SELECT next_offset FROM lockstep.queue')
sql 'SELECT pg_switch_wal()' >/dev/null
pg_stop a fast
cp -a "$cluster/base" "$cluster/c"
pg_name c
pg_configure c archive_mode=off "restore_command=cp $cluster/archive/%f %p" "recovery_target_time=$moment" \
    recovery_target_action=promote
pg_as_owner touch "$cluster/c/recovery.signal"
pg_start c
db=$(pg_conninfo c)
eventually 20 is 'SELECT pg_is_in_recovery()' f
restored=$(sql "SELECT next_offset || ' of $cursor, effects ' || (SELECT count(*) FROM ledger) FROM lockstep.queue")
[ "$(sql 'SELECT count(*) < 600 FROM ledger')" = t ] ||
    { echo 'the restore is not in the middle: this proves nothing'; failed=1; }
lead_to c
let_go # its row is not in the backup
judge 'after the restore'
printf 'restored: cursor %s; ' "$restored"
sed -n 's/.*event=failed_over queue=[^ ]* //p' "$tmp"/*.log | head -n 1
sql 'SELECT ord, seq FROM ledger ORDER BY 1, 2' | diff -q "$tmp/effects" - >/dev/null ||
    { echo 'other effects than before'; failed=1; }
grep -q "event=failed_over .*timeline_was=1 timeline=2 cursor_was=$cursor" "$tmp"/*.log ||
    { echo 'no executor told of it'; failed=1; }

case_begin 'a dump on another server halts the queue until the server is accepted'
pg_init d
pg_start d
"$LOCKSTEP_TEST_PGBIN/pg_dumpall" -d "$db" --roles-only | grep -v 'ROLE lockstep_test' >"$tmp/roles.sql"
"$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$(pg_conninfo d)" -f "$tmp/roles.sql" >/dev/null
publish 101
eventually 30 effects 150
"$LOCKSTEP_TEST_PGBIN/pg_dump" -d "$db" >"$tmp/dump.sql"
"$LOCKSTEP_TEST_PGBIN/psql" -X -q -v ON_ERROR_STOP=1 -d "$(pg_conninfo d)" -f "$tmp/dump.sql" >/dev/null
pg_stop c fast
db=$(pg_conninfo d)
left=$(sql 'SELECT count(*) FROM ledger')
[ "$left" -lt 1200 ] || { echo 'the dump is not of the middle: this proves nothing'; failed=1; }
lead_to d
eventually 20 is 'SELECT halted_reason FROM lockstep.queue' other_server
eventually 20 grep -q 'event=queue_halted.*reason=other_server' "$tmp/1.log"
eventually 20 grep -q 'event=queue_halted.*reason=other_server' "$tmp/2.log"
decided=$(sql 'SELECT halt_no FROM lockstep.queue')
lockstep queue resume "$q" 2>/dev/null # not enough: they check again and see the same
eventually 20 is "SELECT halted_reason, halt_no > $decided FROM lockstep.queue" 'other_server|t'
! lockstep queue resume "$q" --accept-topic 2>"$tmp/topic" || { echo '--accept-topic accepted a server'; failed=1; }
expect 'work on a server that is not accepted' "$(sql "SELECT count(*) FROM ledger;
    SELECT count(*) FROM lockstep.task t JOIN lockstep.executor e USING (executor_no)
    WHERE e.ended_at IS NULL AND lockstep.executor_lives(executor_no)" | tr '\n' ' ')" "$left 0 "
lockstep queue resume "$q" --accept-server --reason 'moved to d' 2>"$tmp/accepted"
let_go
judge 'on another server'
expect 'effects on another server' "$(sql 'SELECT count(*) FROM ledger')" 1200
expect 'the event' \
    "$(sql "SELECT count(*) FROM lockstep.event_log WHERE event = 'server_accepted' AND detail LIKE 'moved to d, %'")" 1
for pid in "${executors[@]}"; do kill -TERM "$pid"; done
for pid in "${executors[@]}"; do wait "$pid" || { echo "an executor ended with $?"; failed=1; }; done

case_begin 'a copy on the same server is another database'
sql 'CREATE DATABASE copy TEMPLATE postgres'
! "$LOCKSTEP_BIN" executor run -d "$db dbname=copy" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" \
    --until-idle 2>"$tmp/copy.log" ||
    { echo 'an executor worked on a copy of the database'; failed=1; }
grep -q 'reason=other_server' "$tmp/copy.log" || failed=1

case_begin 'a copy publishes nothing on the topic of the original until its server is accepted'
original=$db q=$(scratch_name) run=$(cat /proc/sys/kernel/random/uuid)
one='{"order": 1, "sql": "SELECT 1"}'
high() { kcat -Q -b "$LOCKSTEP_TEST_BROKERS" -t "$q:0:-1" | sed 's/.* offset //'; }
enqueue() { sql "SELECT lockstep.enqueue('$q', ARRAY['$one'::jsonb])"; }
refused() {
    ! lockstep publish --queue "$q" -q "$@" - <<<"$one" 2>"$tmp/refused" || wrong "a copy published: $*"
    grep -q 'this is a copy' "$tmp/refused" || wrong "$(cat "$tmp/refused")"
}
lockstep queue create "$q" -q --create-topic
lockstep executor run --queue "$q" --until-idle 2>"$tmp/first.log" # the queue knows its server
{ echo "$one"; eventually 120 test -e "$tmp/more"; echo "$one"; } |
    "$LOCKSTEP_BIN" publish -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" -q --run "$run" --stream - \
        >/dev/null 2>"$tmp/publisher.log" &
publisher=$!
eventually 20 is "SELECT publish_acked_seq FROM lockstep.run WHERE run_id = '$run'" 0
ends_at() { [ "$(high)" = "$1" ]; }
eventually 20 ends_at 2 # the task, and the end of its transaction
enqueued=$(enqueue)
lockstep job apply - -q >/dev/null <<<"{\"jobs\": [{\"job\": \"due\", \"queue\": \"$q\", \"tasks\": [$one],
    \"schedules\": [{\"name\": \"s\", \"kind\": \"interval\", \"every\": \"1h\"}]}]}"
sql "UPDATE lockstep.schedule SET next_at = date_trunc('second', clock_timestamp()), wake_at = clock_timestamp()"
sql 'CREATE DATABASE restored'
"$LOCKSTEP_TEST_PGBIN/pg_dump" -d "$db" >"$tmp/original.sql"
db="$original dbname=restored"
"$LOCKSTEP_TEST_PGBIN/psql" -X -q -v ON_ERROR_STOP=1 -d "$db" -f "$tmp/original.sql" >/dev/null
refused
refused --resume "$run"
daemon --queue "$q" --readers 2
eventually 20 is "SELECT halted_reason FROM lockstep.queue WHERE name = '$q'" other_server
refused
later=$(enqueue)
relays() { is "SELECT count(*) FROM lockstep.executor_session WHERE kind = 'relay'" "$1"; }
eventually 20 relays 1 # that row has notified it
eventually 20 relays 0 # and it has no more to do
eventually 20 is 'SELECT wake_at > clock_timestamp() FROM lockstep.schedule' t
expect 'the end of the topic' "$(high)" 2
expect 'runs and occurrences of the copy' "$(sql "SELECT count(*), min(status), max(status),
    (SELECT count(*) FROM lockstep.job_occurrence) FROM lockstep.run_status WHERE queue = '$q'")" \
    '3|Publishing|Publishing|0'
touch "$tmp/more"
ends_well $publisher 'the publisher of the original'
expect 'published by the original' "$(db=$original sql "SELECT published_at IS NOT NULL, publish_error IS NULL
    FROM lockstep.run WHERE run_id = '$run'")" 't|t'
remedy=$(grep -oP 'here: \Klockstep queue resume \S+ --accept-server' "$tmp/refused") # REMEDY_QUEUE_COPY
eval "$remedy" 2>>"$tmp/accepted"
eventually 40 is "SELECT count(*) FROM lockstep.run_status WHERE status = 'Completed'
    AND run_id IN ('$run', '$enqueued', '$later')" 3 || wrong "$(sql "SELECT * FROM lockstep.run_status")"
told_to_end "$daemon"
cases_end
[ $failed = 0 ] || tail -n 20 "$tmp"/*.log
exit $failed
