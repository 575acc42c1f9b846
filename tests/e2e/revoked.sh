#!/bin/bash
# A right that is taken away from a running executor is waited out as an outage is: the log says at once what to grant,
# and with the right back the work continues in the same process. The same when a migration has replaced a function that
# only the readers of an older executor call: no attempt fails or counts as lost for it.
# ctest: nosan
. "$(dirname "$0")/../support/e2e.bash"
login=$(scratch_name) q=$(scratch_name)
e2e_roles+=("$login")
sql "CREATE ROLE $login LOGIN; GRANT lockstep_executor TO $login"
lockstep queue create "$q" -q --create-topic
"$LOCKSTEP_BIN" executor run -d "$db user=$login" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 2 \
    2>>"$tmp/log" &
pid=$!
publish() { echo '{"order": 1, "sql": "SELECT 1"}' | lockstep publish --queue "$q" -q -; }
unworked() { lockstep run explain "$1" | grep -q "no executor works for queue $q"; }
completed() { is "SELECT status FROM lockstep.run WHERE run_id = '$1'" Completed; }
run=$(publish)
eventually 30 completed "$run" || wrong "$(cat "$tmp/log")"

case_begin 'an executor whose right was taken away says at once what to grant'
sql "REVOKE lockstep_executor FROM $login"
run=$(publish)
eventually 15 grep -q "event=incarnation_lost .*code=42501 .*GRANT lockstep_executor TO .*$login" "$tmp/log" ||
    wrong "$(cat "$tmp/log")"
eventually 10 unworked "$run" || wrong "$(lockstep run explain "$run")"
sleep 1.5 # the end of an outage of less than a second is not logged

case_begin 'with the right back, the same process continues'
# REMEDY_GRANT_GROUP
sql "$(sed -nE 's/.*event=incarnation_lost .*hint="(GRANT[^;]*;).*/\1/p' "$tmp/log" | tail -n 1 | tr -d '\\')"
eventually 60 completed "$run" || wrong "$(cat "$tmp/log")"
eventually 10 grep -q 'event=outage_over' "$tmp/log" || wrong "$(cat "$tmp/log")"

case_begin 'a function that a migration has replaced is no failure of a task: the incarnation ends, and says why'
replaced() { # NAME ARGUMENTS TASK...: without lockstep.NAME no task of the run fails; with it again all complete
    local name=$1 arguments=$2
    shift 2
    : >"$tmp/log"
    sql "ALTER FUNCTION lockstep.$name($arguments) RENAME TO replaced"
    run=$(printf '%s\n' "$@" | lockstep publish --queue "$q" -q --on-failure stop -)
    eventually 15 grep -q "event=incarnation_lost .*code=42883 .*lockstep.$name($arguments) does not exist" \
        "$tmp/log" || wrong "$name: $(cat "$tmp/log")"
    expect "$name: tasks that have ended, attempts that count as lost" "$(sql "SELECT
        count(*) FILTER (WHERE t.status IN ('Failed', 'Completed', 'Cancelled')), sum(lost_num)
        FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$run'")" '0|0'
    sql "ALTER FUNCTION lockstep.replaced($arguments) RENAME TO $name"
    eventually 60 completed "$run" || wrong "$name: $(cat "$tmp/log")"
    expect "$name: attempts that count" "$(sql "SELECT sum(lost_num), sum(max_attempts - attempt_num)
        FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$run'")" '0|0'
}
replaced complete 'bigint, uuid, timestamp with time zone' '{"order": 1, "sql": "SELECT 1", "max_attempts": 1}' \
    '{"order": 1, "sql": "SELECT 1", "max_attempts": 1}'
replaced complete 'bigint, uuid, timestamp with time zone' \
    '{"order": 1, "sql": "SELECT 1", "timeout": 30, "max_attempts": 1}' \
    '{"order": 1, "sql": "SELECT 1", "transaction": false, "max_attempts": 1}'
steps='[{"name": "a", "sql": "SELECT 1"}, {"name": "b", "sql": "SELECT 1"}]'
replaced step_begin 'bigint, uuid, text' "{\"order\": 1, \"steps\": $steps, \"max_attempts\": 1}"
replaced step_done 'bigint, uuid, text' "{\"order\": 1, \"steps\": $steps, \"max_attempts\": 1}"
replaced fail 'bigint, uuid, boolean, bigint, text, text, text, text, text, boolean' \
    '{"order": 1, "sql": "SELECT 1 / (count(*) - 1) FROM pg_proc WHERE proname = '"'replaced'"'", "max_attempts": 1}'

case_begin 'the same errors in the SQL of a task are its own failure'
own_failure() { # SQLSTATE SQL
    local timeout
    for timeout in '' ', "timeout": 30'; do
        run=$(printf '{"order": 1, "sql": "%s", "max_attempts": 1%s}\n' "$2" "$timeout" |
            lockstep publish --queue "$q" -q -)
        eventually 30 run_is "$run" Failed || wrong "$1: $(cat "$tmp/log")"
        expect "$1 of the task's own" "$(sql "SELECT a.status, a.sqlstate, t.lost_num
            FROM lockstep.task_attempt a JOIN lockstep.task t USING (task_id) JOIN lockstep.run r USING (run_no)
            WHERE r.run_id = '$run'")" "Failed|$1|0"
    done
}
own_failure 42883 'SELECT no_such_function()'
own_failure 42P01 'SELECT FROM no_such_table'
own_failure 3F000 'CREATE TABLE no_such_schema.t ()'
own_failure 42703 'SELECT no_such_column FROM pg_class'
own_failure 42501 'SELECT FROM pg_authid'

case_begin 'an executor that is stopped without its right has not failed'
sql "REVOKE lockstep_executor FROM $login"
eventually 15 is "SELECT count(*) FROM pg_stat_activity
    WHERE usename = '$login' AND application_name = 'lockstep/reader'" 0
kill -TERM "$pid"
wait "$pid" || wrong "the executor ended with $?"
cases_end
exit $failed
