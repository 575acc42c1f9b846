#!/bin/bash
# Operators at work while it runs: the reader bound grows at once and shrinks without killing; one executor works on two
# queues; SIGTERM drains; a paused queue opens nothing new.
# ctest: timeout=120
. "$(dirname "$0")/../support/e2e.bash"
ledger_create
sleepers() { # QUEUE ORDER COUNT: tasks that run until the test lets them go
    for ((i = 0; i < $3; i++)); do
        echo "{\"order\": $2, \"sql\": \"SELECT hold('$1', $2, $i)\"}"
    done
}
# A task that waits for its key in table let_go, so that the test decides when it ends.
sql <<'SQL'
CREATE TABLE let_go (q text, ord int, n int);
CREATE FUNCTION hold(q text, o int, n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WHILE NOT EXISTS (SELECT FROM let_go l WHERE l.q = hold.q AND l.ord = hold.o AND (l.n = hold.n OR l.n IS NULL)) LOOP
        PERFORM pg_sleep(0.01);
    END LOOP;
END $$
SQL

case_begin 'readers grow at once; when they shrink, running tasks finish'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 2
sleepers "$q" 1 12 >"$tmp/tasks.jsonl"
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
daemon --queue "$q" --readers 8
running="SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lockstep/reader' AND state = 'active'
      AND query LIKE 'SELECT hold(''$q''%' AND datname = current_database()"
eventually 10 is "$running" 2
lockstep queue set "$q" -q --max-readers 6
eventually 10 is "$running" 6
expect 'queue show' \
    "$(lockstep queue show "$q" -o json | jq -r '.. | objects | select(has("max_readers")) | .max_readers' | head -1)" 6
lockstep queue set "$q" -q --max-readers 3
# The executor reads its requests behind the queue's row: when it has set these, it knows of the three.
lockstep executor set "$(sql 'SELECT executor_id FROM lockstep.executor WHERE ended_at IS NULL')" -q --readers 7
eventually 10 grep -q event=readers_set "$tmp/daemon.log"
expect 'none is killed' "$(sql "$running")" 6
sql "INSERT INTO let_go VALUES ('$q', 1, 0), ('$q', 1, 1), ('$q', 1, 2)"
eventually 10 is "SELECT count(*) FROM lockstep.run_status WHERE run_id = '$run' AND completed = 3" 1
eventually 10 is "$running" 3
sql "INSERT INTO let_go VALUES ('$q', 1, NULL)"
eventually 10 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Completed

case_begin 'a paused queue finishes its running tasks, and opens its next phase when it is resumed'
{ sleepers "$q" 1 2; sleepers "$q" 2 1; } >"$tmp/tasks.jsonl"
sql "DELETE FROM let_go"
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
eventually 10 is "$running" 2
lockstep queue pause "$q" -q --reason 'a test'
sql "INSERT INTO let_go VALUES ('$q', 1, NULL), ('$q', 2, NULL)"
eventually 10 is "SELECT completed FROM lockstep.run_status WHERE run_id = '$run'" 2
expect 'paused' "$(sql "SELECT count(*) FROM lockstep.phase_status WHERE run_id = '$run' AND opened_at IS NOT NULL")" 1
lockstep queue resume "$q" -q
eventually 10 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Completed

case_begin 'a command that waits for the row of a task ends at once when it is interrupted, as cancelled by the user'
task=$(sql "SELECT max(task_id) FROM lockstep.task")
session_open "BEGIN; SELECT FROM lockstep.task WHERE task_id = $task FOR UPDATE"
cancels() { "$LOCKSTEP_BIN" task cancel "$task" -d "$db" 2>"$tmp/cancel" & command=$!; }
waits() { # it gives up after 5 s
    if gone "$command"; then cancels; fi
    is "SELECT count(*) > 0 FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE '%lockstep.task_cancel(%' AND pid <> pg_backend_pid()" t
}
cancels
eventually 10 waits || { cat "$tmp/cancel"; failed=1; }
kill -TERM "$command"
code=0
wait "$command" || code=$?
expect 'the exit code' "$code" 8
grep -q "the wait for task $task was interrupted" "$tmp/cancel" || { cat "$tmp/cancel"; failed=1; }
session_close

case_begin 'each task that the cancellation of its run stops is logged as that, not as a loss'
lockstep queue set "$q" -q --max-readers 8
sleepers "$q" 1 8 >"$tmp/tasks.jsonl"
sql "DELETE FROM let_go"
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
eventually 10 is "$running" 7
eventually 10 is "SELECT count(*) FROM lockstep.task JOIN lockstep.run USING (run_no)
    WHERE run_id = '$run' AND task.status = 'Processing'" 7
lockstep run cancel "$run" -q
eventually 10 is "SELECT status FROM lockstep.run WHERE run_id = '$run' AND ended_at IS NOT NULL" Cancelled
expect 'lines of the log' "$(grep -cE 'event=(attempt_lost|attempt_stale)' "$tmp/daemon.log") $(
    grep -c 'level=info event=attempt_stopped' "$tmp/daemon.log")" '0 7'
lockstep queue set "$q" -q --max-readers 3

case_begin 'SIGTERM drains: running tasks finish, and the rest is left for the next executor'
sleepers "$q" 1 9 >"$tmp/tasks.jsonl"
sql "DELETE FROM let_go"
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
eventually 10 is "$running" 3
kill -TERM $daemon
eventually 10 grep -q 'event=draining' "$tmp/daemon.log"
sql "INSERT INTO let_go VALUES ('$q', 1, NULL)"
status=0
wait $daemon || status=$?
expect 'drained' "$status" 0
expect 'finished' "$(sql "SELECT completed FROM lockstep.run_status WHERE run_id = '$run'")" 3
no_locks_left
executors 1 "$q" 4
executors_wait || failed=1
expect 'the next one goes on' "$(sql "SELECT status FROM lockstep.run_status WHERE run_id = '$run'")" Completed

case_begin 'one executor runs two queues at the same time, each serially'
a=$(scratch_name)
b=$(scratch_name)
lockstep queue create "$a" -q --create-topic --max-readers 2
lockstep queue create "$b" -q --create-topic --max-readers 2
ledger_tasks "$a" 5 6 10 3 >"$tmp/a.jsonl"
ledger_tasks "$b" 6 6 10 3 >"$tmp/b.jsonl"
for n in 1 2 3; do
    lockstep publish --queue "$a" -q "$tmp/a.jsonl" >/dev/null
    lockstep publish --queue "$b" -q "$tmp/b.jsonl" >/dev/null
done
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$a" --queue "$b" --readers 3 \
    --until-idle 2>>"$tmp/daemon.log" || failed=1
expect 'all runs of both' "$(sql "SELECT queue = '$a', count(*), min(status) FROM lockstep.run_status
    WHERE queue IN ('$a', '$b') GROUP BY 1 ORDER BY 1" | tr '\n' ' ')" 'f|3|Completed t|3|Completed '
expect 'runs one after the other' "$(sql "SELECT count(*)
    FROM (SELECT min(started_at) AS s, lag(max(ended_at)) OVER (PARTITION BY queue ORDER BY min(started_at)) AS before
          FROM lockstep.execution_log WHERE queue IN ('$a', '$b') GROUP BY queue, run_id) x
    WHERE s < before")" 0
cases_end
[ $failed = 0 ] || tail -40 "$tmp/daemon.log"
exit $failed
