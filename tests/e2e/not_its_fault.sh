#!/bin/bash
# A task is never failed for an act of an operator or of the server. A task that ends its server each time comes to an
# end all the same, and no other task with it. Two lost attempts are the most here.
# ctest: timeout=240 nosan long
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/cluster.bash"
e2e_leave() { cluster_close; }
make() { # TASK...: queue $q and run $run of them
    q=$(scratch_name)
    lockstep queue create "$q" -q --create-topic --max-readers 4
    sql "UPDATE lockstep.queue SET max_lost = 2 WHERE name = '$q'"
    printf '%s\n' "$@" | sed "s/QUEUE/$q/" >"$tmp/$q.jsonl"
    run=$(lockstep publish --queue "$q" -q "$tmp/$q.jsonl")
}
daemon() {
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 4 "$@" 2>>"$tmp/$q.log" &
    pid=$!
}
is() { sql_value "$1" 2>/dev/null && [ "$sql_said" = "$2" ]; }
expect() { [ "$2" = "$3" ] || { printf '%s: %s, not %s\n' "$1" "$2" "$3"; failed=1; tail -n 20 "$tmp/$q.log"; }; }
of_run() { sql "SELECT $1 FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$run'"; }
running() {
    echo "SELECT count(*) FROM lockstep.task t JOIN lockstep.run r USING (run_no)
        WHERE r.run_id = '$run' AND t.status = 'Processing' AND t.attempt_num = $1"
}
claimed() {
    echo "SELECT count(*) > 0
        FROM lockstep.task t JOIN lockstep.run r USING (run_no) JOIN lockstep.executor e USING (executor_no)
        WHERE r.run_id = '$run' AND e.pid = $pid AND e.ended_at IS NULL"
}
ends() {
    eventually 20 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" "$1" ||
        { failed=1; tail -n 20 "$tmp/$q.log"; }
}
let_go() { sql "INSERT INTO let_go VALUES ('$q')"; }
over() { kill -TERM "$pid"; wait "$pid" || { echo "the executor ended with $?"; failed=1; }; }
hold_create

case_begin 'attempts that a lost control session ends do not count'
make '{"order": 1, "sql": "SELECT hold($$QUEUE$$)"}' '{"order": 2, "sql": "SELECT 1"}'
daemon
for n in 1 2 3 4; do
    eventually 15 is "$(running "$n")" 1 || {
        sql "SELECT task_id, status, attempt_num, lost_num, executor_no, scheduled_for, doubted FROM lockstep.task;
            SELECT * FROM lockstep.task_attempt"
        tail -n 30 "$tmp/$q.log"
        exit 1
    }
    sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'lockstep/control'" >/dev/null
done
eventually 15 is "$(running 5)" 1
let_go
ends Completed
expect 'control ended' "$(of_run "string_agg(t.attempt_num || '/' || t.lost_num, ' ' ORDER BY t.seq)")" '5/0 1/0'
over

case_begin 'a long task does not count the restarts of the server'
make '{"order": 1, "sql": "SELECT hold($$QUEUE$$)"}'
for n in 1 2 3; do
    daemon -s executor.drain_timeout=1ms
    eventually 15 is "$(running "$n")" 1 || {
        sql "SELECT task_id, status, attempt_num, lost_num, executor_no, scheduled_for, doubted FROM lockstep.task;
            SELECT * FROM lockstep.task_attempt"
        tail -n 30 "$tmp/$q.log"
        exit 1
    }
    over
done
daemon
eventually 15 is "$(running 4)" 1 || {
    sql "SELECT task_id, status, attempt_num, lost_num, executor_no, scheduled_for, doubted FROM lockstep.task;
        SELECT * FROM lockstep.task_attempt"
    tail -n 30 "$tmp/$q.log"
    exit 1
}
let_go
ends Completed
expect 'drained' "$(of_run "t.attempt_num || '/' || t.lost_num")" '4/0'
over

case_begin 'executors that die with tasks of a phase that is not open cost no attempt'
make '{"order": 1, "type": "external"}' '{"order": 2, "sql": "SELECT 1"}' '{"order": 3, "sql": "SELECT 1"}'
for n in 1 2 3 4; do
    daemon
    eventually 15 is "$(claimed)" t
    kill -9 "$pid"
    wait "$pid" 2>/dev/null || true
done
daemon
lockstep task complete "$(of_run "min(t.task_id)")" -q >/dev/null
ends Completed
expect 'killed before' \
    "$(of_run "string_agg(t.attempt_num || '/' || t.lost_num, ' ' ORDER BY t.seq) FILTER (WHERE t.order > 1)")" \
    '1/0 1/0'
over

case_begin 'a message of a newer version is left until it can be read'
# A message that this version cannot read is left to the version that wrote its row: here, once it can be read.
make '{"order": 1, "type": "external"}' '{"order": 2, "name": "later", "sql": "SELECT 1"}'
daemon
eventually 15 is "$(claimed)" t
kill -9 "$pid"
wait "$pid" 2>/dev/null || true
sql "UPDATE lockstep.task SET payload = replace(payload, '\"sql\"', '\"later\": 1, \"sql\"') WHERE name = 'later'"
daemon
eventually 15 grep -q event=task_unreadable "$tmp/$q.log"
lockstep task complete "$(of_run "min(t.task_id)")" -q >/dev/null
left="SELECT needs, executor_no IS NULL FROM lockstep.task WHERE name = 'later'"
eventually 15 is "$left" '{version:another}|t' || { failed=1; sql "$left"; }
expect 'it is said once' "$(grep -c event=task_unreadable "$tmp/$q.log")" 1
expect 'explained' "$(lockstep run explain "$run" | grep -c 'needs version:another')" 1
over
sql "UPDATE lockstep.task SET payload = replace(payload, '\"later\": 1, ', '') WHERE name = 'later'"
daemon
ends Completed
expect 'unreadable' "$(of_run "t.attempt_num || '/' || t.lost_num" | tail -n 1)" '1/0'
over

case_begin 'a task that crashes the server comes to an end, and the others of the same phase do not end with it'
# The crash comes each time between the ends of the others, of which one fails, and their flush, which would come by
# itself after ten seconds here.
cluster_open
pg_init crashing restart_after_crash=on wal_writer_delay=10s
pg_start crashing
scratch_drop
db=$(pg_conninfo crashing)
lockstep migrate up >/dev/null
hold_create
sql <<'SQL'
CREATE FUNCTION crash_behind(others text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WHILE (SELECT count(*) FROM lockstep.task t WHERE t.name = ANY (others) AND t.status IN ('Completed', 'Error'))
        < cardinality(others) LOOP
        PERFORM pg_sleep(0.001);
    END LOOP;
    COPY (SELECT 1) TO PROGRAM 'kill -9 ${PPID}';
END $$
SQL
make '{"order": 1, "sql": "SELECT hold($$QUEUE$$)"}'
other=$q
make '{"order": 1, "sql": "SELECT crash_behind($${done,set,failed}$$)"}' \
    '{"order": 1, "name": "done", "sql": "SELECT 1"}' \
    '{"order": 1, "name": "set", "sql": ["SET LOCAL synchronous_commit = off", "SELECT 1"]}' \
    '{"order": 1, "name": "failed", "sql": "SELECT 1 / 0", "max_attempts": 9, "retry_intervals": [600]}'
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --queue "$other" --readers 5 \
    2>>"$tmp/$q.log" &
pid=$!
given_up() { of_run t.error 2>/dev/null | grep -q 'given up'; }
eventually 60 given_up || { failed=1; tail -n 30 "$tmp/$q.log"; }
crashing() { of_run "string_agg(t.status || COALESCE(': ' || t.error, ''), ', ' ORDER BY t.seq)"; }
all_end='Failed: given up: 2 attempts were lost, Completed, Completed, Error: 22012: division by zero'
# The last crash may have taken the ends of the others with it: then they end once more.
others_end() { [ "$(crashing)" = "$all_end" ]; }
eventually 20 others_end || expect 'it crashes' "$(crashing)" "$all_end"
sql "INSERT INTO let_go VALUES ('$other')"
case_begin 'a crash counts one attempt at most of a task that is not its cause'
# It counts one if the server did not come to warn the session.
eventually 20 is "SELECT string_agg(DISTINCT status::text, ' ')
    FROM lockstep.task t JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$other' AND lost_num < 2" Completed ||
    { failed=1; sql 'SELECT task_id, status, lost_num, error FROM lockstep.task'; tail -n 20 "$tmp/$q.log"; }
over

case_begin 'a server that is away for long costs a task no attempt'
# The server is stopped under a task, and refuses all logins when it is back, until the executor has tried in vain some
# times.
refused() { [ "$(grep -c 'pg_hba.conf rejects connection' "$cluster/crashing.log")" -ge "$1" ]; }
for mode in immediate fast; do
    make '{"order": 1, "sql": "SELECT hold($$QUEUE$$)"}'
    daemon
    eventually 15 is "$(running 1)" 1
    sql "INSERT INTO let_go VALUES ('nobody')" # earlier commits are durable with it
    pg_stop crashing $mode
    pg_as_owner sed -i '1i local all all reject' "$cluster/crashing/pg_hba.conf"
    before=$(grep -c 'pg_hba.conf rejects connection' "$cluster/crashing.log" || true)
    pg_start crashing
    eventually 60 refused $((before + 2)) || { failed=1; tail -n 5 "$cluster/crashing.log" "$tmp/$q.log"; }
    pg_as_owner sed -i 1d "$cluster/crashing/pg_hba.conf"
    pg_as_owner "$LOCKSTEP_TEST_PGBIN/pg_ctl" reload -s -D "$cluster/crashing"
    eventually 60 is "$(running 2)" 1 || { failed=1; tail -n 20 "$tmp/$q.log"; }
    let_go
    ends Completed
    expect "stopped, $mode" "$(of_run "t.attempt_num || '/' || t.lost_num")" '2/0'
    over
done
db=''
cases_end
exit $failed
