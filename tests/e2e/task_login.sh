#!/bin/bash
# The login of the tasks is barred while an executor has work. Its readers try again with pauses; the executor takes no
# task meanwhile, logs the reason, and continues by itself when the login is admitted again. SIGTERM meanwhile ends it.
# The same with the executor's own login.
# ctest: timeout=120 nosan
. "$(dirname "$0")/../support/e2e.bash"
tasks=$(scratch_name)_tasks own=$(scratch_name)_own
e2e_roles=("$tasks" "$own")
sql <<SQL
CREATE ROLE $tasks LOGIN IN ROLE lockstep_task;
CREATE TABLE let_go (n int);
GRANT SELECT ON let_go TO $tasks;
CREATE FUNCTION hold(n int) RETURNS void LANGUAGE plpgsql AS \$\$
BEGIN
    WHILE NOT EXISTS (SELECT FROM let_go l WHERE l.n = hold.n) LOOP PERFORM pg_sleep(0.01); END LOOP;
END \$\$
SQL
bad() { echo "$1"; failed=1; tail -n 20 "$tmp/log"; }
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4
daemon() {
    "$LOCKSTEP_BIN" executor run -s "metrics.listen=$tmp/metrics" -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --readers 4 \
        --queue "$q" -s "postgres.task_conninfo=$db user=$tasks" 2>>"$tmp/log" &
    pid=$!
}
publish() { printf '%s\n' "$@" | lockstep publish --queue "$q" -q - >/dev/null; }
done_are() { [ "$(sql "SELECT count(*) FROM lockstep.task WHERE status = 'Completed'")" = "$1" ]; }
running() { [ "$(sql "SELECT count(*) FROM lockstep.task WHERE status = 'Processing'")" = "$1" ]; }
state_is() { [ "$(lockstep executor list -o json | jq -r '.[].state')" = "$1" ]; }
end_readers() { sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '$tasks'" >/dev/null; }
bar() { sql "ALTER ROLE $tasks NOLOGIN"; end_readers; }

daemon
publish '{"order": 1, "sql": "SELECT 1"}'
eventually 15 done_are 1
: >"$tmp/log"
bar
publish '{"order": 1, "sql": "SELECT 1"}' '{"order": 1, "sql": "SELECT 2"}' '{"order": 2, "sql": "SELECT 3"}'
eventually 20 state_is 'no login' || bad "executor list: $(lockstep executor list)"
readyz() { curl -s -o "$tmp/ready" -w '%{http_code}' --unix-socket "$tmp/metrics" http://localhost/readyz; }
ready_is() { [ "$(readyz)" = "$1" ]; }
eventually 10 ready_is 503 || bad "readyz: $(cat "$tmp/ready")"
expect 'readyz says why' "$(cat "$tmp/ready")" \
    "queue $q: no reader can open a session: the login of the tasks is refused"
told() {
    lockstep queue explain "$q" | head -1 |
        grep -Eq "cannot open sessions for its tasks .*4 of 4 readers: .*role \"$tasks\" is not permitted to log in"
}
eventually 10 told || bad "explain: $(lockstep queue explain "$q")"
lockstep check >"$tmp/said" || true
grep -Eq '^FAIL +executors .*cannot open sessions' "$tmp/said" || bad "check: $(cat "$tmp/said")"
tries() { [ "$(grep -c "is not permitted to log in" "$tmp/log")" -ge 1 ]; }
eventually 10 tries || bad 'the log does not say it'
nothing_in_hand() {
    [ "$(sql "SELECT count(*) FROM lockstep.task WHERE status <> 'Completed' AND executor_no IS NOT NULL")" = 0 ]
}
eventually 10 nothing_in_hand || bad 'it keeps tasks that it cannot start'
sleep 2 # a loop would show
[ "$(wc -l <"$tmp/log")" -lt 40 ] || bad "$(wc -l <"$tmp/log") lines in the log"
[ "$(grep -c 'event=tasks_adopted' "$tmp/log")" -lt 6 ] || bad 'tasks are adopted time after time'
done_are 1 || bad 'a task ran without a login'
sql "ALTER ROLE $tasks LOGIN"
eventually 20 done_are 4 || bad 'it does not go on when the login is let in again'
eventually 10 state_is ok
eventually 10 ready_is 200 || bad "readyz: $(cat "$tmp/ready")"
expect 'attempts that were lost' "$(sql 'SELECT sum(lost_num) FROM lockstep.task')" 0

case_begin 'a login that may not record an attempt costs no attempt, and the grant that it needs is named'
publish '{"order": 1, "sql": "SELECT hold(2)"}'
eventually 15 running 1
: >"$tmp/log"
sql "REVOKE lockstep_task FROM $tasks; INSERT INTO let_go VALUES (2)"
run=$(printf '%s\n' '{"order": 1, "sql": "SELECT 1"}' '{"order": 1, "sql": "SELECT 1 / 0", "max_attempts": 2}' |
    lockstep publish --queue "$q" -q -)
eventually 20 state_is 'no login' || bad "executor list: $(lockstep executor list)"
granting="GRANT lockstep_task TO \"$tasks\""
told() {
    lockstep queue explain "$q" >"$tmp/said" && grep -q "may not call lockstep.*permission denied" "$tmp/said" &&
        grep -qF "$granting" "$tmp/said"
}
eventually 10 told || bad "explain: $(cat "$tmp/said")"
logged() { grep -Eq 'event=readers_cut_off .*code=42501 .*permission denied.*GRANT lockstep_task TO' "$tmp/log"; }
eventually 10 logged || bad 'the log does not name the grant'
lockstep executor list -o json | jq -e '.[] | select(.state == "no login")' >/dev/null || bad 'executor list'
sleep 2 # a loop would show
expect 'attempts that count as lost' "$(sql 'SELECT sum(lost_num) FROM lockstep.task')" 0
expect 'runs that failed' "$(sql "SELECT count(*) FROM lockstep.run WHERE status = 'Failed'")" 0
[ "$(grep -c event=attempt_lost "$tmp/log")" -le 6 ] || bad 'attempts are lost time after time'
expect 'what they say' "$(sql "SELECT DISTINCT error FROM lockstep.task_attempt WHERE error LIKE 'lost: %'")" \
    'lost: the login of the tasks may not record it'
printed() { grep -oE 'GRANT [^;]+;' "$tmp/said" | head -1; }
sql "$(printed)"
run_ended() {
    is "SELECT string_agg(t.status || ' ' || t.lost_num, ', ' ORDER BY t.seq)
        FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$run'" 'Completed 0, Failed 0'
}
eventually 30 run_ended || bad 'it does not go on after the grant'
eventually 20 done_are 6
eventually 10 state_is ok

case_begin 'a right that the group of the tasks itself lacks is named with the statement that grants it'
# REMEDY_GRANT_FUNCTIONS REMEDY_GRANT_SCHEMA
lacking() { # WHAT REVOKE WORDS: the printed command is run, and the executor continues
    sql "$2"
    end_readers
    eventually 20 state_is 'no login' || bad "$1: executor list: $(lockstep executor list)"
    refused_is() { lockstep queue explain "$q" >"$tmp/said" && grep -qF -- "$3" "$tmp/said"; }
    eventually 10 refused_is "$@" || bad "$1: explain: $(cat "$tmp/said")"
    sql "$(printed)"
    eventually 30 state_is ok || bad "$1: it does not go on after: $(printed)"
}
lacking 'a function' 'REVOKE EXECUTE ON FUNCTION lockstep.complete FROM lockstep_task' \
    'GRANT EXECUTE ON FUNCTION lockstep.complete TO lockstep_task;'
lacking 'two functions' 'REVOKE EXECUTE ON FUNCTION lockstep.fail, lockstep.action_fail FROM lockstep_task' \
    'GRANT EXECUTE ON FUNCTION lockstep.action_fail, lockstep.fail TO lockstep_task;'
lacking 'the schema' 'REVOKE USAGE ON SCHEMA lockstep FROM lockstep_task' \
    'GRANT USAGE ON SCHEMA lockstep TO lockstep_task;'
publish '{"order": 1, "sql": "SELECT 1"}'
eventually 20 done_are 7 || bad 'a task does not run after the grants'

case_begin 'readers that the server does not let in leave an executor that runs with the others'
sql "ALTER ROLE $tasks CONNECTION LIMIT 2"
end_readers
trouble_is() { # STATE TROUBLE
    lockstep executor list -o json |
        jq -e --arg s "$1" --arg t "$2" '.[0] | .state == $s and (.trouble // "" | test($t))' >/dev/null
}
eventually 30 trouble_is ok '^2 of 4 readers: .*too many connections' || bad "$(lockstep executor list)"
runs() { # STATE COUNT
    curl -s -o "$tmp/text" --unix-socket "$tmp/metrics" http://localhost/metrics &&
        grep -q "executors{queue=\"$q\",state=\"$1\"} $2\$" "$tmp/text"
}
eventually 10 runs running 1 || bad 'the metrics count no executor that runs'
runs troubled 0 || bad 'the metrics count it as one that does not work'
eventually 10 ready_is 200 || bad "readyz: $(cat "$tmp/ready")"
explained() {
    lockstep queue explain "$q" | grep -Eq 'cannot open sessions for some of its readers .*2 of 4 readers: '
}
eventually 10 explained || bad "explain: $(lockstep queue explain "$q")"
lockstep check >"$tmp/said" || true
grep -Eq '^warn +executors .*cannot open sessions for some' "$tmp/said" || bad "check: $(cat "$tmp/said")"
publish '{"order": 1, "sql": "SELECT 1"}' '{"order": 1, "sql": "SELECT 2"}'
eventually 20 done_are 9 || bad 'it does not work with the readers that it has'
sql "ALTER ROLE $tasks CONNECTION LIMIT -1"
eventually 20 trouble_is ok '^$' || bad "$(lockstep executor list)"

case_begin 'a time-out that is over while the reader has no session keeps no thread at work'
sleeps() { cat "/proc/$pid/task/"*/status | awk '/^voluntary_ctxt_switches/ { n += $2 } END { print n }'; }
publish '{"order": 1, "timeout": 8, "sql": "SELECT hold(3)"}'
eventually 15 running 1
bar
eventually 20 state_is 'no login'
over() { is "SELECT clock_timestamp() > started_at + interval '9 s' FROM lockstep.task WHERE status = 'Processing'" t; }
eventually 20 over || bad 'the task is not at work any more'
before=$(sleeps)
sleep 3 # the observation itself
[ $(($(sleeps) - before)) -lt 1500 ] || bad "its threads fell asleep $(($(sleeps) - before)) times in 3 s"
sql "INSERT INTO let_go VALUES (3); ALTER ROLE $tasks LOGIN"
eventually 30 done_are 10 || bad 'the task does not run when the login is admitted'
eventually 10 state_is ok

case_begin 'a task whose session is ended runs elsewhere when its executor has ended'
publish '{"order": 1, "sql": "SELECT hold(1)"}'
eventually 15 running 1
bar
eventually 20 state_is 'no login'
lost() {
    lockstep task explain "$(sql "SELECT task_id FROM lockstep.task WHERE status = 'Processing'")" >"$tmp/said" &&
        grep -Eq '^task .* has lost its session \(backend [0-9]+\), .* readers: .*is not permitted to log in' \
            "$tmp/said"
}
eventually 10 lost || bad "explain: $(cat "$tmp/said")"
expect 'what helps is printed' "$(grep -oE 'kill -TERM [0-9]+' "$tmp/said")" "kill -TERM $pid"
eval "$(grep -oE 'kill -TERM [0-9]+' "$tmp/said")"
eventually 10 grep -q event=draining "$tmp/log"
kill -TERM "$pid"
eventually 20 bash -c "! kill -0 $pid 2>/dev/null" || bad 'it does not end'
wait "$pid" || bad "the executor ended with $?"
sql "ALTER ROLE $tasks LOGIN; INSERT INTO let_go VALUES (1)"
daemon
eventually 20 done_are 11 || bad 'nobody takes over'
kill -TERM "$pid"
wait "$pid" || bad "the executor ended with $?"

case_begin 'no task stays with an executor whose limit leaves only readers that are cut off'
: >"$tmp/log"
daemon
# The first two tasks are with the first two readers, which are idle when these tasks have ended.
publish '{"order": 1, "sql": "SELECT hold(7)"}'{,} '{"order": 1, "sql": "SELECT hold(8)"}'{,} \
    '{"order": 2, "sql": "SELECT 1"}'{,}
eventually 15 running 4 || bad 'not all of its readers work'
sql "INSERT INTO let_go VALUES (7)"
eventually 15 done_are 13 || bad 'the first two do not end'
waiting="FROM lockstep.task WHERE status = 'Pending' AND executor_no IS NOT NULL"
eventually 15 is "SELECT count(*) $waiting" 2 || bad 'the next phase does not wait with it'
sql "ALTER ROLE $tasks CONNECTION LIMIT 2"
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '$tasks' AND state = 'idle'" >/dev/null
two_cut_off() { lockstep executor list -o json | jq -r '.[].trouble' | grep -q '^2 of 4 readers: '; }
eventually 20 two_cut_off || bad 'two readers are not cut off'
expect 'what waits' "$(sql "SELECT count(*) $waiting")" 2
lockstep executor set "$(lockstep executor list -o json | jq -r '.[].executor_id')" -q --readers 2
eventually 10 grep -q 'event=readers_set .*readers=2' "$tmp/log" || bad 'the limit is not read'
eventually 10 is "SELECT count(*) $waiting" 0 || bad 'tasks wait with readers that cannot run them'
expect 'what runs is left to end' "$(sql "SELECT count(*) FROM lockstep.task WHERE status = 'Processing'")" 2
sql "ALTER ROLE $tasks CONNECTION LIMIT -1; INSERT INTO let_go VALUES (8)"
eventually 30 done_are 17 || bad 'it does not continue'
kill -TERM "$pid"
wait "$pid" || bad "the executor ended with $?"
case_begin 'an executor whose login is barred names the remedy, and continues when it may log in'
# The executor's own login is barred, and its sessions are ended: it tries ever less often, names the remedy, and
# continues when it is let in.
sql "CREATE ROLE $own LOGIN IN ROLE lockstep_executor, lockstep_task"
: >"$tmp/log"
"$LOCKSTEP_BIN" executor run -d "$db user=$own" -b "$LOCKSTEP_TEST_BROKERS" --readers 1 --queue "$q" \
    -s "postgres.task_conninfo=$db user=$tasks" 2>>"$tmp/log" &
pid=$!
eventually 15 grep -q event=executor_started "$tmp/log"
sql "ALTER ROLE $own NOLOGIN" # by itself: an executor that is quick could log in again before the commit
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '$own'" >/dev/null
refused() {
    grep -Eq 'event=incarnation_lost .*code=28000 .*is not permitted to log in.*a new password in the configuration counts after a restart' \
        "$tmp/log"
}
eventually 15 refused || bad 'the log does not say what helps'
# Which session is ended last decides what it could still write: nothing, its end, or its end and why.
lockstep queue explain "$q" >"$tmp/said"
grep -Eq 'or its login is refused|which ended with|failed and starts again: .*terminating connection' "$tmp/said" ||
    bad "explain: $(cat "$tmp/said")"
sql "ALTER ROLE $own LOGIN"
again() { kill -HUP "$pid"; [ "$(grep -c event=executor_started "$tmp/log")" = 2 ]; }
eventually 20 again || bad 'it does not come again'
kill -TERM "$pid"
wait "$pid" || bad "the executor ended with $?"
cases_end
exit $failed
