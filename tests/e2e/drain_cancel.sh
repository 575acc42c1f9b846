#!/bin/bash
# An executor ends at the end of its drain, and its tasks are free at once: a request to cancel may come before the
# statement that it is meant for, the task's SQL may catch it, or the record of its end may wait for a row.
# ctest: nosan
. "$(dirname "$0")/../support/e2e.bash"
sql <<'SQL'
CREATE FUNCTION stubborn() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    LOOP
        BEGIN
            PERFORM pg_sleep(600);
        EXCEPTION WHEN query_canceled THEN
        END;
    END LOOP;
END $$
SQL
executor() { # PROBES
    q=$(scratch_name)
    rm -rf "$tmp/probes"
    mkdir "$tmp/probes"
    lockstep queue create "$q" -q --create-topic --max-readers 1
    LOCKSTEP_PROBE_DIR=$tmp/probes LOCKSTEP_PROBE=$1 "$LOCKSTEP_BIN-probed" executor run -d "$db" \
        -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 1 --set executor.drain_timeout=1ms 2>"$tmp/log" &
    pid=$!
}
publish() { lockstep publish --queue "$q" -q - <<<"$1" >/dev/null; }
runs() { # QUERY, as it begins
    is "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '$1%'" 1
}
ends() { # the executor, in order: its task waits for another one, and no lost attempt counts
    eventually 20 gone "$pid" || { wrong "it does not end: $(tail -n 5 "$tmp/log")"; kill -KILL "$pid"; }
    ends_well "$pid"
    expect 'its task' "$(sql "SELECT status, executor_no IS NULL, lost_num, error FROM lockstep.task
        JOIN lockstep.queue USING (queue_id) WHERE queue.name = '$q'")" 'Pending|t|0|'
    expect 'statements that still run' "$(sql "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND query ~ '^SELECT (pg_sleep|stubborn)'")" 0
}

case_begin 'a request to cancel that comes between two statements is made again'
executor block.begun=hold,cancel.sent=sleep:1
publish '{"order": 1, "sql": ["SELECT 1", "SELECT pg_sleep(600)"]}'
comes_to() { [ -e "$tmp/probes/$1.hit" ]; }
eventually 20 comes_to block.begun || wrong 'the task does not begin'
kill -TERM "$pid"
eventually 20 comes_to cancel.sent || wrong 'nothing is cancelled'
touch "$tmp/probes/block.begun.go"
ends

case_begin 'a task that catches its cancel loses its session'
executor ''
publish '{"order": 1, "sql": "SELECT stubborn()"}'
eventually 20 runs 'SELECT stubborn' || wrong 'the task does not run'
kill -TERM "$pid"
ends

case_begin 'the record of a failure that waits for a row which another session keeps does not keep the executor'
executor ''
publish '{"order": 1, "sql": ["SELECT pg_sleep(1)", "SELECT 1 / 0"]}'
eventually 20 runs 'SELECT pg_sleep(1)' || wrong 'the task does not run'
session_open "BEGIN; SELECT FROM lockstep.queue WHERE name = '$q' FOR UPDATE"
eventually 20 is "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
    AND application_name = 'lockstep/reader' AND wait_event_type = 'Lock'" 1 || wrong 'the record does not wait'
kill -TERM "$pid"
ends
session_close

case_begin 'an executor of several queues that an operator drains finishes what it runs'
q=$(scratch_name) second=$(scratch_name)
sql <<'SQL'
CREATE TABLE let_go (gone boolean);
CREATE FUNCTION hold() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WHILE NOT EXISTS (SELECT FROM let_go) LOOP PERFORM pg_sleep(0.01); END LOOP;
END $$
SQL
for one in "$q" "$second"; do lockstep queue create "$one" -q --create-topic --max-readers 1; done
daemon --queue "$q" --queue "$second" --readers 1
publish '{"order": 1, "sql": "SELECT hold()"}'
eventually 20 runs 'SELECT hold' || wrong 'the task does not run'
lockstep executor drain "$(sql 'SELECT executor_id FROM lockstep.executor WHERE ended_at IS NULL')" -q
eventually 20 grep -q event=draining "$tmp/daemon.log" || wrong 'it does not drain'
sql 'INSERT INTO let_go VALUES (true)'
ends_well "$daemon"
expect 'its task' "$(sql "SELECT DISTINCT status FROM lockstep.task JOIN lockstep.queue USING (queue_id)
    WHERE queue.name = '$q'")" Completed
expect 'what it says of cancels' "$(grep -c 'event=cancelling' "$tmp/daemon.log")" 0
cases_end
[ $failed = 0 ] || cat "$tmp/log" "$tmp/daemon.log"
exit $failed
