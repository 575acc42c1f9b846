#!/bin/bash
# Another login takes advisory locks with the keys of Lockstep: an executor does not start, or waits for that queue
# only, and names the session. No attempt is lost.
# ctest: nosan timeout=120
. "$(dirname "$0")/../support/e2e.bash"
hold() { session_open "SELECT count(pg_advisory_lock($1, g)) FROM generate_series($2, $3) AS g"; } # CLASS FROM TO
queue=$(scratch_name)
lockstep queue create "$queue" -q --create-topic
echo '{"order": 1, "sql": "SELECT 1"}' >"$tmp/a.jsonl"

case_begin 'an executor does not start when the locks of executors are taken, and names the session that holds them'
hold 1280507907 1 50 # executors
status=0
timeout 60 "$LOCKSTEP_BIN" executor run --queue "$queue" --until-idle -d "$db" \
    -b "$LOCKSTEP_TEST_BROKERS" 2>"$tmp/log" || status=$?
expect 'exit' "$status" 7
grep -q "is held by pid $backend" "$tmp/log" || { cat "$tmp/log"; failed=1; }
# REMEDY_LOCKS_TAKEN, as it is printed
sql "$(grep -oE 'SELECT pg_terminate_backend\([0-9]+\)' "$tmp/log" | tail -1)" >/dev/null
eventually 10 session_gone
timeout 60 "$LOCKSTEP_BIN" executor run --queue "$queue" --until-idle -d "$db" \
    -b "$LOCKSTEP_TEST_BROKERS" 2>"$tmp/log" || { cat "$tmp/log"; failed=1; }

case_begin 'commands that check name a session that holds the lock of dispatch and is no dispatcher'
lockstep job apply - \
    -q <<<'{"job": "nightly", "queue": "'"$queue"'", "tasks": [{"order": 1, "sql": "SELECT 1"}], "schedules": [{"name": "s", "kind": "once", "at": "2099-01-01T00:00:00Z"}]}' >/dev/null
"$LOCKSTEP_BIN" scheduler run -d "$db" 2>"$tmp/log" &
scheduler=$!
eventually 30 grep -q event=dispatching "$tmp/log"
lockstep monitor check >"$tmp/said" 2>&1 || { cat "$tmp/said"; failed=1; }
told_to_end $scheduler
hold 1280507913 0 0
for command in 'monitor check' 'monitor list' check; do
    # shellcheck disable=SC2086 # two words
    if lockstep $command >"$tmp/said" 2>&1; then echo "$command: not refused"; failed=1; fi
    grep -q "the lock of dispatch is held by backend $backend (.*), which is no dispatcher: no job fires" \
        "$tmp/said" || { cat "$tmp/said"; failed=1; }
done
sql "$(grep -oE "SELECT pg_terminate_backend\($backend\)" "$tmp/said" | tail -1)" >/dev/null
eventually 10 session_gone
lockstep monitor check >"$tmp/said" 2>&1 || { cat "$tmp/said"; failed=1; }

case_begin 'an executor waits for the locks of a phase, and names the session that holds them; no attempt is lost'
other=$(scratch_name)
lockstep queue create "$other" -q --create-topic
hold 1280507905 -20 20 # phases
run=$(lockstep publish --queue "$queue" -q "$tmp/a.jsonl")
"$LOCKSTEP_BIN" executor run --queue "$queue" --queue "$other" -d "$db" -b "$LOCKSTEP_TEST_BROKERS" 2>"$tmp/log" &
pid=$!
said() { grep 'event=locks_taken' "$tmp/log" | grep -q "held by pid $backend"; }
eventually 30 said || { cat "$tmp/log"; failed=1; }
grep 'event=locks_taken' "$tmp/log" | grep -q "SELECT pg_terminate_backend($backend)" || { cat "$tmp/log"; failed=1; }
lockstep run explain "$run" >"$tmp/explained"
grep -Eq "^backend $backend holds locks that only executors take .*, of phases that are still to come" \
    <(head -1 "$tmp/explained") || { cat "$tmp/explained"; failed=1; }
sql "$(grep -oE 'SELECT pg_terminate_backend\([0-9]+\)' "$tmp/explained" | head -1)" >/dev/null # as it is printed
eventually 30 run_is "$run" Completed || { cat "$tmp/log"; failed=1; }
! grep -q 'event=incarnation_lost' "$tmp/log" || { cat "$tmp/log"; failed=1; }
expect 'lost attempts' "$(sql 'SELECT lost_num FROM lockstep.task')" 0

case_begin 'explain names a session that holds the locks of slots'
# The executor returns idle ones.
eventually 30 is "SELECT count(*) FROM pg_locks WHERE classid = 1280507906 AND $own_locks" 0
hold 1280507906 1 50
run=$(lockstep publish --queue "$queue" -q "$tmp/a.jsonl")
named() {
    lockstep run explain "$run" >"$tmp/explained"
    grep -Eq "^backend $backend holds locks that only executors take .*, of slots: no reader gets these" \
        "$tmp/explained"
}
eventually 30 named || cat "$tmp/explained"
sql "$(grep -oE 'SELECT pg_terminate_backend\([0-9]+\)' "$tmp/explained" | head -1)" >/dev/null
eventually 30 run_is "$run" Completed || { cat "$tmp/log"; failed=1; }

case_begin 'explain names the session that has the lock of a dead executor, not the process that is gone'
executor=$(sql 'SELECT executor_no FROM lockstep.executor WHERE ended_at IS NULL')
session_open "SET statement_timeout = '60s'"
printf 'SELECT pg_advisory_lock(1280507907, %s);\n' "$executor" >&"$session"
eventually 30 is "SELECT count(*) FROM pg_locks WHERE classid = 1280507907 AND NOT granted AND $own_locks" 1
kill -9 "$pid"
eventually 30 is "SELECT count(*) FROM pg_locks WHERE classid = 1280507907 AND granted AND pid = $backend" 1
expect 'the executor, its host and its age are not those of that session' \
    "$(lockstep lock list -o json | jq -c --argjson pid "$backend" \
        'map(select(.pid == $pid and .kind == "executor") | [.state, .host, .since, .age])')" \
    '[["held",null,null,null]]'
names() {
    lockstep queue explain "$queue" >"$tmp/explained"
    grep -Eq "^backend $backend holds locks that only executors take .*, of executor .*: if that is dead" \
        "$tmp/explained"
}
eventually 30 names || cat "$tmp/explained"
expect 'a process that is gone' "$(grep -c 'holds its locks and has not stirred' "$tmp/explained")" 0
sql "SELECT pg_terminate_backend($backend)" >/dev/null

case_begin 'whoever asks about a dead executor is not taken for a holder of its lock'
lockstep publish --queue "$queue" -q "$tmp/a.jsonl" >/dev/null # for `check`, a queue has to have work
dead() { [ "$(sql "SELECT lockstep.executor_lives($executor)")" = f ]; }
eventually 30 dead
expect 'noticed as dead' "$(sql "SELECT ended_at IS NOT NULL FROM lockstep.executor WHERE executor_no = $executor")" f
lockstep queue explain "$queue" >"$tmp/explained"
grep -q "^no executor works for queue $queue" "$tmp/explained" || { cat "$tmp/explained"; failed=1; }
lockstep check >>"$tmp/explained" || true
! grep 'holds locks that only executors take' "$tmp/explained" || failed=1
cases_end
exit $failed
