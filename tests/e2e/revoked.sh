#!/bin/bash
# A right that is taken away from a running executor is waited out as an outage is: the log says at once what to grant,
# and with the right back the work continues in the same process.
# ctest: nosan
. "$(dirname "$0")/../support/e2e.bash"
login=$(scratch_name) q=$(scratch_name)
e2e_roles+=("$login")
sql "CREATE ROLE $login LOGIN; GRANT lockstep_executor TO $login"
lockstep queue create "$q" -q --create-topic
"$LOCKSTEP_BIN" executor run -d "$db user=$login" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 2 \
    2>"$tmp/log" &
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

case_begin 'an executor that is stopped without its right has not failed'
sql "REVOKE lockstep_executor FROM $login"
eventually 15 is "SELECT count(*) FROM pg_stat_activity
    WHERE usename = '$login' AND application_name = 'lockstep/reader'" 0
kill -TERM "$pid"
wait "$pid" || wrong "the executor ended with $?"
cases_end
exit $failed
