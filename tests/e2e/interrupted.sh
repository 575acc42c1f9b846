#!/bin/bash
# A publish is interrupted while its query runs: no error of the query is reported. Or while the server is frozen: the
# command ends by itself, with an error, though neither the statement nor the cancel request is answered.
# ctest: nosan timeout=120
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/cluster.bash"
e2e_leave() { cluster_close; }
cluster_open
pg_init frozen
pg_start frozen
conninfo=$(pg_conninfo frozen)
"$LOCKSTEP_BIN" migrate up -q -d "$conninfo"
q=$(scratch_name)
"$LOCKSTEP_BIN" queue create "$q" -q --create-topic -d "$conninfo" -b "$LOCKSTEP_TEST_BROKERS" >/dev/null
echo '{"order": 1, "sql": "SELECT 1"}' >"$tmp/tasks.jsonl"
data=$(pg_sql frozen 'SHOW data_directory')
postmaster=$(head -n 1 "$data/postmaster.pid")

coproc holder { psql -XqAt "$conninfo"; }
echo "CREATE TABLE work (n int); BEGIN; LOCK TABLE work; SELECT 'held';" >&"${holder[1]}"
read -r -t 30 line <&"${holder[0]}"
expect 'the lock' "$line" held
for from in 'pg_sleep(600)' work; do
    case_begin "an interrupted publish --query of $from is no wrong query"
    env --default-signal=INT "$LOCKSTEP_BIN" publish -q --queue "$q" -d "$conninfo" -b "$LOCKSTEP_TEST_BROKERS" \
        --query "SELECT 1 AS \"order\", 'SELECT 1' AS sql FROM $from" >"$tmp/output" 2>&1 &
    command=$!
    queries() {
        [ "$(pg_sql frozen "SELECT count(*) FROM pg_stat_activity
            WHERE wait_event = 'PgSleep' OR wait_event_type = 'Lock'")" != 0 ]
    }
    eventually 30 queries
    kill -INT "$command"
    status=0
    wait "$command" || status=$?
    expect 'its exit' "$status $(grep -c 'it is one SELECT' "$tmp/output")" '8 0'
    [ "$status" = 8 ] || cat "$tmp/output"
done
echo 'ROLLBACK; DROP TABLE work;' >&"${holder[1]}"
eval "exec ${holder[1]}>&-"
wait "$holder_PID" 2>/dev/null || true

case_begin 'publish waits for a lock, and the whole server stands still'
coproc holder { psql -XqAt "$conninfo"; }
echo "BEGIN; LOCK TABLE lockstep.run; SELECT 'held';" >&"${holder[1]}"
read -r -t 30 line <&"${holder[0]}"
expect 'the lock' "$line" held
env --default-signal=INT "$LOCKSTEP_BIN" publish -q --queue "$q" -d "$conninfo" -b "$LOCKSTEP_TEST_BROKERS" \
    "$tmp/tasks.jsonl" >"$tmp/output" 2>&1 &
command=$!
waits() { [ "$(pg_sql frozen "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")" != 0 ]; }
eventually 30 waits
read -ra server <<<"$postmaster $(cat "/proc/$postmaster/task/$postmaster/children")"
kill -STOP "${server[@]}"
kill -INT "$command"
eventually 40 bash -c "! kill -0 $command 2>/dev/null" || wrong 'the command does not end'
kill -CONT "${server[@]}"
status=0
wait "$command" || status=$?
[ "$status" -ne 0 ] || wrong 'an interrupted command has succeeded'
[ "$status" -lt 128 ] || wrong 'a signal has ended the command'
grep -q 'the server does not answer' "$tmp/output" || wrong "$(cat "$tmp/output")"
cases_end
exit $failed
