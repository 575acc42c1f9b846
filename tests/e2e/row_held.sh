#!/bin/bash
# Another session holds the row of a queue, of a run or of a task in an open transaction, for longer than control waits.
# The executor's other queues continue, with the same incarnation and the same attempts; explain and the command line
# name the session; the work that waited continues when the session has ended.
# ctest: nosan timeout=300 long
. "$(dirname "$0")/../support/e2e.bash"
bad() { echo "$1"; failed=1; tail -n 20 "$tmp/log"; }
hold_create
user=$(sql 'SELECT current_user')
let_go() { sql "INSERT INTO let_go VALUES ('$1')"; }
a=$(scratch_name) b=$(scratch_name) c=$(scratch_name)
for queue in "$a" "$b" "$c"; do lockstep queue create "$queue" -q --create-topic; done
publish() { # QUEUE SQL [SQL of the next phase]
    {
        echo "{\"order\": 1, \"sql\": \"$2\"}"
        [ $# -lt 3 ] || echo "{\"order\": 2, \"sql\": \"$3\"}"
    } | lockstep publish --queue "$1" -q -
}
status() {
    echo "SELECT string_agg(t.status::text || t.attempt_num, ' ' ORDER BY t.\"order\")
        FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$1'"
}
hold() { session_open BEGIN "$1"; }
release() {
    sql "SELECT pg_terminate_backend($backend)" >/dev/null
    session_close
}
start() {
    "$LOCKSTEP_BIN" executor run --queue "$a" --queue "$b" --queue "$c" --readers 6 -d "$db" \
        -b "$LOCKSTEP_TEST_BROKERS" 2>>"$tmp/log" &
    pid=$!
}
lines() { grep -cE "$1" "$tmp/log" || true; }
# met WHAT: since mark(), a statement gave up
mark() { before=$(lines 'lock timeout'); }
met() { [ "$(lines 'lock timeout')" -gt "$before" ]; }
# the executor and its other queues are as they were: WHAT
others_go_on() {
    other=$(publish "$c" 'SELECT 3')
    eventually 30 is "$(status "$other")" Completed1 || bad "$1: another queue does not go on"
    is "$(status "$long")" Processing1 || bad "$1: the task of another queue has lost its attempt"
    ! grep -q 'event=incarnation_lost' "$tmp/log" || bad "$1: the incarnation is lost"
}
named() {
    lockstep queue explain "$a" >"$tmp/said" && head -1 "$tmp/said" |
        grep -q "^backend $backend holds the row of $1 .*in an open transaction (.*idle in transaction"
}

# refuse COMMAND...: begins a command that needs the row; is_refused: it has ended, and named the session that holds it
refuse() { "$@" 2>"$tmp/refusal" & refused=$!; }
is_refused() {
    code=0
    wait "$refused" || code=$?
    [ "$code" != 0 ] &&
        grep -q "Backend $backend holds it ($user, .*in a transaction since 20.*SELECT pg_terminate_backend($backend)" \
            <(tr -s ' \n' ' ' <"$tmp/refusal") ||
        bad "$1: $code, $(cat "$tmp/refusal")"
}

case_begin 'a held row of an idle queue is shown before anything waits for it'
hold "SELECT FROM lockstep.queue WHERE name = '$a' FOR UPDATE"
eventually 30 named "queue $a" || bad "explain: $(cat "$tmp/said")"
head -1 "$tmp/said" | grep -q 'nothing waits for it yet' || bad "explain: $(cat "$tmp/said")"
lockstep queue show "$a" -o json |
    jq -e --arg pid "$backend" '.queue.row_held | contains("backend " + $pid + " holds the row")' >/dev/null ||
    bad "queue show: $(lockstep queue show "$a")"
sql "$(grep -oE 'SELECT pg_terminate_backend\([0-9]+\)' "$tmp/said" | head -1)" >/dev/null # as it is printed
session_close
is_free() { lockstep queue show "$a" -o json | jq -e '.queue.row_held == null' >/dev/null; }
eventually 10 is_free || bad 'a row is held by a session that has ended'

case_begin 'a session of Lockstep is named only when its transaction lasts'
hold "SET application_name = 'lockstep/control'; SELECT FROM lockstep.queue WHERE name = '$a' FOR UPDATE"
sql "SELECT FROM lockstep.queue WHERE name = '$a' FOR UPDATE" & # needs the row
waiter=$!
waits() { is "SELECT count(*) FROM pg_locks w WHERE NOT w.granted AND $backend = ANY (pg_blocking_pids(w.pid))" 1; }
eventually 10 waits
sql "SELECT count(*) FROM lockstep.explain_held((SELECT queue_id FROM lockstep.queue WHERE name = '$a'))" >"$tmp/said"
young() { is "SELECT xact_start > now() - interval '1500 ms' FROM pg_stat_activity WHERE pid = $backend" t; }
if young; then expect 'named at once' "$(cat "$tmp/said")" 0; fi
eventually 20 named "queue $a" || bad "explain: $(cat "$tmp/said")"
release
wait "$waiter" || bad 'what waited for the row'

start
long=$(publish "$b" "SELECT hold('long')")
eventually 20 is "$(status "$long")" Processing1
first=$(publish "$a" 'SELECT 1')
eventually 20 is "$(status "$first")" Completed1

case_begin 'a held row of a queue keeps its claims waiting, and no other queue'
mark
hold "SELECT FROM lockstep.queue WHERE name = '$a' FOR UPDATE"
echo '{"order": 1, "previous_order": 0, "sql": "SELECT 2"}' | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$a" -p 0
eventually 30 met || bad 'a row that is held is waited for without end'
others_go_on "a queue's row"
eventually 10 named "queue $a" || bad "explain: $(cat "$tmp/said")"
# REMEDY_ROW_HELD, as it is printed
hint=$(grep -m 1 'lock timeout' "$tmp/log" | grep -oE 'SELECT pid, usename, .* ORDER BY xact_start')
sql "$hint" >"$tmp/shown"
grep -q "^$backend|" "$tmp/shown" || bad 'the hint does not show the session'

case_begin 'a publish that waits for a held row ends when it is asked to'
refuse lockstep queue pause "$a" -q # REMEDY_ROW_WAITED: it waits meanwhile
for signal in TERM INT; do
    "$LOCKSTEP_BIN" publish --queue "$a" -q - -d "$db" -b "$LOCKSTEP_TEST_BROKERS" \
        <<<'{"order": 1, "sql": "SELECT 1"}' >"$tmp/refused" 2>&1 &
    publisher=$!
    waits() {
        is "SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name LIKE 'lockstep/producer%'
              AND wait_event_type = 'Lock'" 1
    }
    eventually 20 waits || { bad "a publish does not wait for the row: $(cat "$tmp/refused")"; continue; }
    kill -"$signal" "$publisher"
    code=0
    wait "$publisher" || code=$?
    [ "$code" = 8 ] || bad "a publish that waits ended with $code at SIG$signal: $(cat "$tmp/refused")"
done

case_begin 'a command that needs a held row is refused, and waiting work continues when the session has ended'
is_refused 'queue pause'
sql "$(grep -oE 'SELECT pg_terminate_backend\([0-9]+\)' "$tmp/said" | head -1)" >/dev/null # as it is printed
session_close
eventually 30 is "SELECT count(*) FROM lockstep.task WHERE status = 'Completed'" 3 ||
    bad 'what waited for the row does not go on'
lockstep run end "$(sql "SELECT run_id FROM lockstep.run WHERE implicit")" >/dev/null # kcat's

case_begin 'a held row of a run is no failure of the run'
mark
run=$(publish "$a" "SELECT hold('run')" 'SELECT 2')
eventually 20 is "$(status "$run")" 'Processing1 Pending1'
hold "SELECT FROM lockstep.run WHERE run_id = '$run' FOR UPDATE"
let_go run
eventually 30 met || bad "a run's row is waited for without end"
others_go_on "a run's row"
eventually 10 named "run $run" || bad "explain: $(cat "$tmp/said")"
release
eventually 30 is "SELECT status FROM lockstep.run WHERE run_id = '$run'" Completed ||
    bad "a run whose row was held does not end: $(sql "$(status "$run")")"
is "$(status "$run")" 'Completed1 Completed1' || bad "a run whose row was held: $(sql "$(status "$run")")"

case_begin 'a held row of a task is no failure of its attempt'
run=$(publish "$a" "SELECT hold('lost')")
eventually 20 is "$(status "$run")" Processing1
hold "SELECT FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$run' FOR UPDATE OF t"
is "SELECT pg_terminate_backend(t.backend_pid) FROM lockstep.task t JOIN lockstep.run r USING (run_no)
    WHERE r.run_id = '$run'" t || bad 'the session of the task was not found'
eventually 20 grep -q 'event=attempt_lost' "$tmp/log" || bad 'the attempt is not lost'
others_go_on "a task's row"
is "$(status "$run")" Processing1 || bad 'a row that is held was changed'
task=$(sql "SELECT t.task_id FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$run'")
lockstep task explain "$task" >"$tmp/said"
head -1 "$tmp/said" | grep -q "^backend $backend holds the row of task $task " || bad "explain: $(cat "$tmp/said")"
! grep -q 'task cancel' "$tmp/said" || bad "explain offers what cannot work: $(cat "$tmp/said")"
refuse lockstep task cancel "$task" -q
is_refused 'task cancel'
let_go lost
release
eventually 60 is "$(status "$run")" Completed2 ||
    bad "a task whose row was held is not tried again: $(sql "$(status "$run")")"

case_begin 'a task whose row is held when its next attempt is due is tried when the row is free'
sql "CREATE FUNCTION is_due() RETURNS bigint LANGUAGE sql AS 'SELECT 1 / count(*) FROM let_go WHERE what = ''due'''"
run=$(echo '{"order": 1, "max_attempts": 2, "retry_intervals": [8], "sql": "SELECT is_due()"}' |
    lockstep publish --queue "$a" -q -)
eventually 20 is "$(status "$run")" Error1
hold "SELECT FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$run' FOR UPDATE OF t"
let_go due
eventually 20 is "SELECT clock_timestamp() > t.scheduled_for + interval '1 s'
    FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$run'" t
is "$(status "$run")" Error1 || bad 'a row that is held was changed'
release
eventually 10 is "$(status "$run")" Completed2 ||
    bad "a task whose row was held when it was due is not tried again: $(sql "$(status "$run")")"

case_begin 'a held row of a run does not end its publishing, which only cannot note how far it is'
d=$(scratch_name)
lockstep queue create "$d" -q --create-topic
mkfifo "$tmp/lines"
lockstep publish --queue "$d" --stream - <"$tmp/lines" >"$tmp/published" 2>&1 &
publisher=$!
exec {lines}>"$tmp/lines"
line() { echo '{"order": 1, "sql": "SELECT 1"}' >&"$lines"; }
noted() {
    is "SELECT publish_acked_seq FROM lockstep.run JOIN lockstep.queue AS q USING (queue_id) WHERE q.name = '$d'" "$1"
}
line
eventually 20 noted 0 || bad "nothing is noted: $(cat "$tmp/published")"
hold "SELECT FROM lockstep.run WHERE queue_id = (SELECT queue_id FROM lockstep.queue WHERE name = '$d') FOR UPDATE"
line
eventually 30 grep -q 'event=publish_note_failed' "$tmp/published" || bad "a held row: $(cat "$tmp/published")"
line
release
exec {lines}>&-
wait "$publisher" || bad "the publisher ended with $?: $(cat "$tmp/published")"
eventually 10 is "SELECT publish_acked_seq, published_at IS NOT NULL, publish_error
    FROM lockstep.run JOIN lockstep.queue AS q USING (queue_id) WHERE q.name = '$d'" '3|t|' || bad "the run: $sql_said"

case_begin 'a worker that holds the row of a queue disturbs no other queue'
run=$(echo '{"order": 1, "type": "external"}' | lockstep publish --queue "$a" -q -)
eventually 30 is "SELECT count(*) FROM lockstep.phase p JOIN lockstep.run r USING (run_no)
    WHERE r.run_id = '$run' AND p.opened_at IS NOT NULL" 1
mark
hold "SELECT count(m.*)
    FROM lockstep.next_task('$a', 'w') AS t, LATERAL lockstep.modify_task(t.task_id, t.updated_at, 'Completed') AS m;
    SET CONSTRAINTS ALL IMMEDIATE"
echo '{"order": 1, "previous_order": 0, "sql": "SELECT 2"}' | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$a" -p 0
eventually 30 met || bad "a worker's transaction is waited for without end"
others_go_on "a worker's transaction"
eventually 10 named "queue $a" || bad "explain: $(cat "$tmp/said")"
echo 'COMMIT;' >&"$session"
session_close
eventually 30 is "$(status "$run")" Completed1 || bad "a worker's task: $(sql "$(status "$run")")"
eventually 30 is "SELECT count(*) FROM lockstep.run WHERE implicit AND ended_at IS NULL" 1 ||
    bad 'what waited for a worker does not go on'
lockstep run end "$(sql "SELECT run_id FROM lockstep.run WHERE implicit AND ended_at IS NULL")" >/dev/null # kcat's

case_begin 'a session that locks the table of tasks ends nothing that runs'
# The task itself takes the lock: so it is held before the task is shown as Processing.
sql <<'SQL'
CREATE FUNCTION lock_tasks() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    BEGIN
        LOCK TABLE lockstep.task IN SHARE MODE;
        PERFORM hold('locked');
        RAISE EXCEPTION 'undo';
    EXCEPTION WHEN raise_exception THEN -- the lock is released
    END;
    PERFORM hold('locks');
END $$
SQL
run=$(publish "$a" 'SELECT lock_tasks()')
eventually 30 grep -q 'event=tasks_not_shown' "$tmp/log" || bad 'nothing meets the lock'
let_go locked
eventually 30 is "$(status "$run")" Processing1 || bad "a task is not shown later: $(sql "$(status "$run")")"
others_go_on 'a locked table'
let_go locks
eventually 30 is "$(status "$run")" Completed1 || bad "the task that locked: $(sql "$(status "$run")")"

case_begin 'an executor starts while the row of one of its queues is held'
let_go long
eventually 20 is "$(status "$long")" Completed1 || bad 'the task of the other queue has lost its attempt'
kill -TERM "$pid"
wait "$pid" || bad "the executor ended with $?"
hold "SELECT FROM lockstep.queue WHERE name = '$a' FOR UPDATE"
mark
LOCKSTEP_EXECUTOR_MAX_ATTEMPTS=2 start
eventually 30 met || bad 'a start meets no row'
sql "DELETE FROM let_go"
long=$(publish "$b" "SELECT hold('long')")
eventually 30 is "$(status "$long")" Processing1 || bad 'a start with a row that is held: another queue is not served'
others_go_on 'a start'
release
eventually 30 is "SELECT default_attempts FROM lockstep.queue WHERE name = '$a'" 2 ||
    bad 'what was to be noted at the start is not'
run=$(publish "$a" 'SELECT 1')
eventually 30 is "$(status "$run")" Completed1 || bad 'a queue whose row was held at the start is not served'

let_go long
eventually 20 is "$(status "$long")" Completed1 || bad 'the task of the other queue has lost its attempt'
! grep -q 'event=incarnation_lost' "$tmp/log" || bad 'the executor has lost its incarnation'

case_begin 'an executor that has lost its sessions comes up again while the row of one of its tasks is held'
run=$(publish "$a" "SELECT hold('again')")
eventually 20 is "$(status "$run")" Processing1
hold "SELECT FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$run' FOR UPDATE OF t"
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'lockstep/control%'" >/dev/null
eventually 30 grep -q 'event=incarnation_lost' "$tmp/log" || bad 'the incarnation is not lost'
other=$(publish "$c" 'SELECT 3')
eventually 60 is "$(status "$other")" Completed1 || bad 'no queue is served'
let_go again
release
eventually 60 is "$(status "$run")" Completed2 || bad "the task is not tried again: $(sql "$(status "$run")")"
kill -TERM "$pid"
wait "$pid" || bad "the executor ended with $?"

case_begin 'a table that is locked before the question which tasks were not returned loses no task'
e=$(scratch_name)
lockstep queue create "$e" -q --create-topic
mkdir "$tmp/probes"
LOCKSTEP_PROBE_DIR=$tmp/probes LOCKSTEP_PROBE=late.ask=hold "$LOCKSTEP_BIN-probed" executor run --queue "$e" \
    --readers 2 -d "$db" -b "$LOCKSTEP_TEST_BROKERS" 2>>"$tmp/log" &
pid=$!
run=$(publish "$e" "SELECT hold('asked')" 'SELECT 1')
eventually 20 is "$(status "$run")" 'Processing1 Pending1' || bad 'the first phase does not run'
hold "SELECT FROM lockstep.task t JOIN lockstep.run r USING (run_no)
    WHERE r.run_id = '$run' AND t.\"order\" = 2 FOR UPDATE OF t"
lockstep run pause "$run" >/dev/null
eventually 20 test -e "$tmp/probes/late.ask.hit" || bad 'all tasks are returned'
echo "LOCK TABLE lockstep.task IN ACCESS EXCLUSIVE MODE; SELECT 'locked';" >&"$session"
eventually 20 grep -q '^locked' "$tmp/session.out" || bad 'the table is not locked'
asks() {
    is "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
        AND query LIKE '%g.task_id AND t.token = g.token%'" "$1"
}
touch "$tmp/probes/late.ask.go"
eventually 20 asks 1 || bad 'the question does not meet the lock'
eventually 20 asks 0 || bad 'the question waits without end'
release
lockstep run resume "$run" >/dev/null
let_go asked
eventually 30 is "$(status "$run")" 'Completed1 Completed1' || bad "a task is lost: $(sql "$(status "$run")")"
kill -TERM "$pid"
wait "$pid" || bad "the executor ended with $?"
cases_end
exit $failed
