#!/bin/bash
# A server whose settings were made for others, and one that has no connection left: time-outs that are shorter than our
# waits, read-only and serializable by default, for everybody and for our role; max_connections reached before the start
# and in the middle. Nothing of it changes what happens, some of it when.
# ctest: nosan timeout=120 long
. "$(dirname "$0")/../support/begin.bash"
. "$here/../support/cluster.bash"
e2e_leave() { cluster_close; }
mkdir "$tmp/locale"
chmod 755 "$tmp"
german=
if localedef -i de_DE -f UTF-8 "$tmp/locale/de_DE.UTF-8" 2>/dev/null; then
    export LOCPATH=$tmp/locale
    german=lc_messages=de_DE.UTF-8
fi
cluster_open
pg_init main max_connections=16 superuser_reserved_connections=2
pg_start main
bare=$(pg_conninfo main)
# The test itself looks with settings of its own.
db="$bare options='-c search_path=public -c default_transaction_read_only=off -c statement_timeout=0 -c lock_timeout=0 -c idle_session_timeout=0'"
"$LOCKSTEP_BIN" migrate up -q -d "$db" >/dev/null
ledger_create
sql 'CREATE ROLE plain LOGIN; GRANT lockstep_executor TO plain; GRANT INSERT, SELECT ON ledger TO plain'
plain="$bare user=plain"
publish() { # SECONDS: three phases
    q=$(scratch_name)
    db=$bare lockstep queue create "$q" -q --create-topic --max-readers 4
    for ((i = 0; i < 12; i++)); do
        echo "{\"order\": $((1 + i / 4)), \"sql\": \"SELECT public.work('$q', $((1 + i / 4)), $i, $1)\"}"
    done >"$tmp/tasks.jsonl"
    run=$(db=$bare lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
}
daemon() {
    "$LOCKSTEP_BIN" executor run -d "$plain" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 4 2>"$tmp/$q.log" &
    daemon=$!
}
completed() { [ "$(sql "SELECT status FROM lockstep.run_status WHERE run_id = '$run'")" = Completed ]; }
judge() {
    eventually 30 completed || { failed=1; lockstep run show "$run"; }
    expect "$1" "$(ledger_check "$q" 4 | grep -v '^a lock is left' || true)" ''
    expect "$1: attempts" "$(sql "SELECT count(*), max(attempt_num) <= ${2:-1}
        FROM lockstep.task t JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$q'")" "12|t"
    kill -TERM "$daemon"
    wait "$daemon" || { echo "$1: the executor ended with $?"; failed=1; }
}

case_begin 'our sessions override the defaults of a database and of a role'
# A DBA's defaults, for everybody and for the role, some in the middle of a run. Sessions that are ours override them.
hostile=(statement_timeout=150ms lock_timeout=20ms idle_in_transaction_session_timeout=150ms idle_session_timeout=300ms
    default_transaction_read_only=on default_transaction_isolation=serializable default_transaction_deferrable=on
    "search_path=" client_min_messages=error "DateStyle=SQL,DMY" IntervalStyle=sql_standard bytea_output=escape
    row_security=off
    standard_conforming_strings=off client_connection_check_interval=0 synchronous_commit=local extra_float_digits=-3)
pg_set main "${hostile[@]}"
for setting in "${hostile[@]}"; do sql "ALTER ROLE plain SET ${setting%%=*} = '${setting#*=}'"; done
sql 'ALTER FUNCTION work SET search_path = public'
publish 0.5
daemon
judge 'with hostile settings'
! grep -E 'event=(incarnation_lost|reader_lost|attempt_lost)' "$tmp/$q.log" || failed=1
publish 0.1
daemon
eventually 10 is "SELECT count(*) > 0 FROM ledger WHERE q = '$q'" t
sql 'ALTER SYSTEM RESET ALL'
sql 'ALTER ROLE plain RESET ALL; SELECT pg_reload_conf()' >/dev/null
judge 'with settings that change'

case_begin 'a cancel from outside is no failure of the task, in any language'
# A cancel from outside is no failure of the task's, in any language of the server; a time-out that the task sets
# is.
if [ -n "$german" ]; then
    pg_set main "$german"
    q=$(scratch_name)
    db=$bare lockstep queue create "$q" -q --create-topic --max-readers 1 --max-attempts 1 --on-failure continue
    printf '%s\n' \
        '{"order": 1, "sql": "DO $$BEGIN PERFORM pg_sleep(CASE WHEN EXISTS (SELECT FROM ledger WHERE ord = 77) THEN 0 ELSE 60 END); END$$"}' \
        '{"order": 2, "sql": ["SET LOCAL statement_timeout = 50", "SELECT pg_sleep(60)"]}' >"$tmp/tasks.jsonl"
    run=$(db=$bare lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
    daemon
    eventually 20 is "SELECT count(*) FROM pg_stat_activity WHERE query ~ '^DO.*ord = 77' AND state = 'active'" 1
    sql 'INSERT INTO ledger (ord) VALUES (77)'
    sql "SELECT pg_cancel_backend(pid) FROM pg_stat_activity
        WHERE query ~ '^DO.*ord = 77' AND state = 'active'" >/dev/null
    eventually 30 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" PartiallyCompleted || failed=1
    expect 'in German' "$(sql "SELECT l.status, l.attempt, l.error ~ 'Anfrage' FROM lockstep.execution_log l
        WHERE run_id = '$run' ORDER BY task_id, attempt")" $'Pending|1|f\nCompleted|2|\nFailed|1|t'
    kill -TERM "$daemon"
    wait "$daemon" || failed=1
fi

case_begin 'an executor starts when no connection is left'
fill() {
    local i
    for ((i = 0; i < 60; i++)); do # one of them may meet the check whether it is full, and be refused
        full && return
        "$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$plain" -c 'SELECT pg_sleep(1000)' >/dev/null 2>&1 &
        fillers+=($!)
    done
    eventually 10 full
}
full() { ! "$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$plain" -c 'SELECT 1' >/dev/null 2>&1; }
drain() {
    sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(1000)'" >/dev/null
    jobs_tell TERM "${fillers[@]}" # one may have found room behind that
    wait "${fillers[@]}" 2>/dev/null || true
    fillers=()
}
fillers=()
publish 0.05
fill
daemon
eventually 20 grep -qE 'event=(database_not_ready|incarnation_lost).*code=53300' "$tmp/$q.log" || failed=1
drain
judge 'no connection at the start'

case_begin 'an executor with fewer connections than readers works with those that it has'
sql 'ALTER ROLE plain CONNECTION LIMIT 8'
publish 0.05
"$LOCKSTEP_BIN" executor run -d "$plain" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 40 2>"$tmp/$q.log" &
daemon=$!
judge 'fewer connections than readers'
grep -q 'event=readers_short readers=[1-9]' "$tmp/$q.log" || failed=1
! grep -q 'event=incarnation_lost' "$tmp/$q.log" || failed=1
sql 'ALTER ROLE plain CONNECTION LIMIT -1'

case_begin 'a gate that gets no connection waits for one, and takes no running task with it'
queues=() runs=()
for number in 1 2 3 4 5 6; do
    one=$(scratch_name)
    lockstep queue create "$one" -q --create-topic
    runs+=("$(echo '{"order": 1, "sql": "SELECT pg_sleep(2)"}' | lockstep publish --queue "$one" -q -)")
    queues+=(--queue "$one")
done
sql 'ALTER ROLE plain CONNECTION LIMIT 6'
"$LOCKSTEP_BIN" executor run -d "$plain" -b "$LOCKSTEP_TEST_BROKERS" "${queues[@]}" --readers 40 2>"$tmp/gates.log" &
gates=$!
eventually 60 grep -q 'event=gate_waits .*code=53300' "$tmp/gates.log" || failed=1
eventually 60 is "SELECT count(*) > 0 FROM lockstep.run WHERE status = 'Completed' AND run_id = ANY (
                      '{$(IFS=,; echo "${runs[*]}")}')" t || failed=1
sql 'ALTER ROLE plain CONNECTION LIMIT -1'
eventually 60 is "SELECT count(*) FROM lockstep.run WHERE status = 'Completed' AND run_id = ANY (
                      '{$(IFS=,; echo "${runs[*]}")}')" 6 || failed=1
told_to_end "$gates"
! grep -q 'event=incarnation_lost' "$tmp/gates.log" || failed=1

case_begin 'an opening is recorded, and executors are notified of it, while the gate has no connection'
one=$(scratch_name)
lockstep queue create "$one" -q --create-topic --max-readers 2
message() { echo "$1" | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$one" -p 0; }
hold_create plain
message '{"order": 1, "previous_order": 0, "sql": "SELECT pg_sleep(3)"}'
message '{"order": 1, "previous_order": 0, "sql": "SELECT public.hold($$rest$$)"}'
work() {
    "$LOCKSTEP_BIN" executor run -d "$plain" -b "$LOCKSTEP_TEST_BROKERS" --queue "$one" --readers "$1" \
        2>>"$tmp/one.log" &
    gates=$!
}
tasks="SELECT count(*) FROM lockstep.task t JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$one' AND t.status"
work 1 # it opens the first phase, and leaves a part of it
eventually 30 is "$tasks = 'Processing'" 1 || failed=1
told_to_end "$gates"
sql 'ALTER ROLE plain CONNECTION LIMIT 4'
work 2 # one reader has the rest of the phase, the other one the next phase: the release opens it
eventually 30 is "$tasks = 'Processing'" 1 || failed=1
message '{"order": 2, "previous_order": 1, "sql": "SELECT pg_sleep(300)"}'
eventually 60 is "$tasks = 'Pending' AND t.executor_no IS NOT NULL" 1 || failed=1
sql "INSERT INTO let_go VALUES ('rest')"
eventually 60 is "$tasks = 'Completed'" 2 || failed=1
opened="FROM lockstep.phase p JOIN lockstep.queue q USING (queue_id)
    WHERE q.name = '$one' AND p.\"order\" = 2 AND p.opened_at IS NOT NULL"
eventually 10 is "SELECT count(*) $opened" 1 || failed=1
eventually 10 is "SELECT count(*) FROM lockstep.event_log
    WHERE event = 'phase_opened' AND phase_id IN (SELECT p.phase_id $opened)" 1 || failed=1
grep -q 'event=gate_waits .*code=53300' "$tmp/one.log" || { echo 'its gate has a connection'; failed=1; }
sql 'ALTER ROLE plain CONNECTION LIMIT -1'
lockstep run cancel "$(sql "SELECT run_id FROM lockstep.run JOIN lockstep.queue q USING (queue_id)
    WHERE q.name = '$one'")" >/dev/null
told_to_end "$gates"

case_begin 'an executor that loses sessions works with the readers that it has'
# And in the middle: it has lost its sessions and gets only some of them back. It works with the readers that it has.
publish 0.3
daemon
eventually 20 is "SELECT count(*) > 3 FROM ledger WHERE q = '$q'" t
sql 'ALTER ROLE plain CONNECTION LIMIT 3'
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'lockstep/control'" >/dev/null
eventually 20 grep -qE 'event=(incarnation_lost|readers_short).*code=53300' "$tmp/$q.log" || failed=1
sql 'ALTER ROLE plain CONNECTION LIMIT -1'
judge 'no connection in the middle' 3 # it may lose its sessions once more before it has come up
cases_end
[ $failed = 0 ] || tail -n 20 "$tmp"/*.log
exit $failed
