#!/bin/bash
# An operator at work on runs, tasks and executors, with the commands: running tasks are stopped, waiting ones held,
# failed ones retried, and the next run follows in order. tests/sql/control.sql has the rules, operator_race.sh the
# races.
# ctest: timeout=120 notsan
. "$(dirname "$0")/../support/e2e.bash"
ledger_create
# hold(): a task that runs until its key is in let_go.
sql <<'SQL'
CREATE TABLE let_go (q text, n int);
CREATE FUNCTION hold(q text, n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WHILE NOT EXISTS (SELECT FROM let_go l WHERE l.q = hold.q AND l.n = hold.n) LOOP PERFORM pg_sleep(0.01); END LOOP;
    INSERT INTO ledger VALUES (q, 0, n, now(), clock_timestamp());
END $$
SQL
held() { # ORDER FIRST LAST
    for ((i = $2; i <= $3; i++)); do echo "{\"order\": $1, \"sql\": \"SELECT hold('$q', $i)\"}"; done
}
publish() { lockstep publish --queue "$q" -q "$@"; }
status_of() { sql "SELECT status FROM lockstep.run_status WHERE run_id = '$1'"; }
ended() {
    eventually 15 is "SELECT status FROM lockstep.run WHERE run_id = '$1' AND ended_at IS NOT NULL" "$2" || told "$1"
}
told() { # the actual state of a run
    sql "SELECT event, task_id, detail FROM lockstep.event_log JOIN lockstep.run USING (run_no) WHERE run_id = '$1'
        ORDER BY event_id"
    counts "$1"
    lockstep run explain "$1"
    tail -20 "$tmp/daemon.log"
    exit 1
}
counts() {
    sql "SELECT string_agg(n || ' ' || status, ', ' ORDER BY status) FROM (SELECT t.status, count(*) AS n
        FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$1' GROUP BY 1) c"
}
at_work="SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lockstep/reader' AND state = 'active'
      AND query LIKE 'SELECT hold(%' AND datname = current_database()"
task_at() { sql "SELECT task_id FROM lockstep.task JOIN lockstep.run USING (run_no) WHERE run_id = '$1' AND seq = $2"; }
refused() { # WHAT COMMAND...: exit code 1 and a message with WHAT
    local what=$1 status=0
    shift
    lockstep "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
    [ "$status" = 1 ] && grep -q -- "$what" "$tmp/err" ||
        { echo "lockstep $*: exit code $status, $(cat "$tmp/err"), wanted: $what"; failed=1; }
}

q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 2 --max-attempts 1
daemon --queue "$q" --readers 4

case_begin 'run cancel ends running and later tasks, and the next run waits for that end'
{ held 1 1 3; for _ in $(seq 300); do echo '{"order": 2, "sql": "SELECT 1/0"}'; done; held 3 4 4; } >"$tmp/a.jsonl"
echo "{\"order\": 1, \"sql\": \"INSERT INTO ledger VALUES ('$q', 0, 100, now(), now())\"}" >"$tmp/b.jsonl"
a=$(publish "$tmp/a.jsonl")
b=$(publish "$tmp/b.jsonl")
eventually 15 is "$at_work" 2
eventually 10 is "SELECT processing FROM lockstep.run_status WHERE run_id = '$a'" 2
out=$(lockstep run cancel "$a" --reason 'wrong file' -o json)
expect 'two are to be stopped' "$(jq -c '.[0] | [.status, .stopping]' <<<"$out")" '["Running",2]'
ended "$a" Cancelled
ended "$b" Completed
expect 'what ran is Terminated, the rest Cancelled' "$(counts "$a")" '302 Cancelled, 2 Terminated'
expect 'no effect of it' "$(sql "SELECT string_agg(seq::text, ' ') FROM ledger")" 100
expect 'nothing is lost' "$(sql "SELECT count(*) FROM lockstep.task WHERE lost_num > 0")" 0
expect 'the later phases did not start' \
    "$(sql "SELECT count(*) FROM lockstep.task_attempt WHERE sqlstate IS NOT NULL")" 0
expect 'the next run began when it had ended' "$(sql "SELECT b.started_at >= a.ended_at
    FROM lockstep.run a, lockstep.run b WHERE a.run_id = '$a' AND b.run_id = '$b'")" t
expect 'who and why' "$(lockstep log --run "$a" --event run_cancelled -o jsonl | jq -r '.actor + " " + .detail' |
    sed 's/^[^ ]* [0-9]* tasks/tasks/')" 'tasks cancelled, 2 to be stopped: wrong file'
refused 'has ended: it is Cancelled' run cancel "$a"
refused 'nothing of it failed' run retry "$b"

case_begin 'run retry of a cancelled run does all of it again, in order'
sql "INSERT INTO let_go SELECT '$q', n FROM generate_series(1, 4) AS n"
lockstep run retry "$a" --reason 'it was right' >/dev/null
ended "$a" Failed
expect 'again, up to the phase that fails' "$(counts "$a")" '300 Failed, 3 Completed, 1 Cancelled'
expect 'each effect once' "$(sql "SELECT string_agg(seq::text, ' ' ORDER BY seq) FROM ledger WHERE seq < 100")" '1 2 3'

case_begin 'run retry of all failed runs retries each by itself'
sql 'CREATE TABLE broken (n int)'
echo '{"order": 1, "sql": "SELECT 1/count(*) FROM mended"}
{"order": 2, "sql": "SELECT 2"}' >"$tmp/c.jsonl"
sql 'CREATE TABLE mended (n int)'
runs=()
for n in 1 2 3; do runs+=("$(publish "$tmp/c.jsonl" --name "nightly $n")"); done
for run in "${runs[@]}"; do ended "$run" Failed; done
sql 'INSERT INTO mended VALUES (1)'
out=$(lockstep run retry --queue "$q" --status Failed --name 'nightly%' --reason 'mended' -o json)
expect 'three runs' "$(jq -c '[.[] | [.tasks, .phases, .order, .refused]]' <<<"$out")" \
    '[[2,2,1,null],[2,2,1,null],[2,2,1,null]]'
for run in "${runs[@]}"; do ended "$run" Completed; done

case_begin 'run pause lets tasks that were sent to a session finish, and nothing else starts'
held 1 1001 1060 >"$tmp/d.jsonl"
d=$(publish "$tmp/d.jsonl")
eventually 15 is "$at_work" 2
lockstep run pause "$d" --reason 'look first' >/dev/null
refused 'is paused already' run pause "$d"
refused 'nothing of it failed' run retry "$d"
sql "INSERT INTO let_go SELECT '$q', n FROM generate_series(1001, 1060) AS n"
eventually 10 is \
    "SELECT count(*) FROM lockstep.task JOIN lockstep.run USING (run_no) WHERE run_id = '$d' AND token IS NOT NULL" 0
expect 'some are done, others have not begun' \
    "$(sql "SELECT status, completed BETWEEN 2 AND 40 FROM lockstep.run_status WHERE run_id = '$d'")" 'Paused|t'
lockstep run explain "$d" | grep -q 'is paused by .*: look first' || { echo 'run explain does not say so'; failed=1; }
expect 'run show says why' "$(lockstep run show "$d" -o json | grep -c 'paused by .*: look first')" 1
expect 'and none begins' "$(sql "$at_work")" 0
lockstep run resume "$d" >/dev/null
ended "$d" Completed
refused 'is not paused' run resume "$d"

case_begin 'under on_failure pause a retry tries again, and a resume continues without the failed task'
lockstep queue set "$q" -q --on-failure pause
sql 'DELETE FROM mended'
d=$(publish "$tmp/c.jsonl")
eventually 15 is "SELECT status FROM lockstep.run_status WHERE run_id = '$d'" Paused
lockstep run explain "$d" -o json | jq -e 'map(.reason) | index("run_paused_by_failure")' >/dev/null ||
    { echo 'run explain does not say so'; failed=1; }
lockstep run resume "$d" --reason 'not needed' >/dev/null
ended "$d" PartiallyCompleted
sql 'INSERT INTO mended VALUES (1)'
lockstep run retry "$d" >/dev/null
ended "$d" Completed

case_begin 'a task is stopped, tried again, and declared done'
held 1 31 32 >"$tmp/e.jsonl"
echo '{"order": 2, "sql": "SELECT 3"}' >>"$tmp/e.jsonl"
lockstep queue set "$q" -q --on-failure stop
e=$(publish "$tmp/e.jsonl")
eventually 15 is "SELECT processing FROM lockstep.run_status WHERE run_id = '$e'" 2
refused 'is running' task complete "$(task_at "$e" 0)"
lockstep task cancel "$(task_at "$e" 0)" --reason 'hangs' >/dev/null
eventually 10 is "SELECT status FROM lockstep.task WHERE task_id = $(task_at "$e" 0)" Terminated
expect 'the other one goes on' "$(sql "$at_work")" 1
lockstep task retry "$(task_at "$e" 0)" >/dev/null
# Before it is shown as running it would be Cancelled.
eventually 10 is "SELECT processing FROM lockstep.run_status WHERE run_id = '$e'" 2
lockstep task cancel "$(task_at "$e" 0)" >/dev/null
eventually 10 is "SELECT status FROM lockstep.task WHERE task_id = $(task_at "$e" 0)" Terminated
lockstep task complete "$(task_at "$e" 0)" --reason 'by hand' >/dev/null
sql "INSERT INTO let_go VALUES ('$q', 32)"
ended "$e" Failed
lockstep run retry "$e" >/dev/null # the tasks that were cancelled for the one that is done now
ended "$e" Completed
refused 'is finished: it is Completed' task cancel "$(task_at "$e" 0)"
status=0
lockstep task cancel 999999999 2>/dev/null || status=$?
expect 'no such task' "$status" 2

case_begin 'a task that swallows cancels loses its session'
echo '{"order": 1, "sql": "DO $$BEGIN LOOP BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END$$"}' \
    >"$tmp/f.jsonl"
f=$(publish "$tmp/f.jsonl")
eventually 15 is "SELECT processing FROM lockstep.run_status WHERE run_id = '$f'" 1
lockstep run cancel "$f" >/dev/null
ended "$f" Cancelled
expect 'stopped' "$(counts "$f")" '1 Terminated'

case_begin 'an operator sets the readers of one executor, and drains it'
held 1 41 49 >"$tmp/g.jsonl"
lockstep queue set "$q" -q --max-readers 4
g=$(publish "$tmp/g.jsonl")
eventually 15 is "$at_work" 4
id=$(sql 'SELECT executor_id FROM lockstep.executor WHERE ended_at IS NULL')
refused 'can use 0 to 4 readers, not 5' executor set "$id" --readers 5
lockstep executor set "${id:0:8}" --readers 1 -q --reason 'host is loaded'
sql "INSERT INTO let_go SELECT '$q', n FROM generate_series(41, 44) AS n"
eventually 10 is "SELECT completed FROM lockstep.run_status WHERE run_id = '$g'" 4
eventually 15 is "$at_work" 1
# Each loss begins an incarnation, with an id of its own, and the limit is the executor's until it ends.
for times in 1 2; do
    sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name LIKE 'lockstep/control%'" >/dev/null
    eventually 30 is "SELECT count(*) FROM lockstep.executor
                      WHERE ended_at IS NULL AND executor_id <> '$id' AND readers_limit = 1" 1 ||
        wrong "behind loss $times the limit is not known"
    id=$(sql 'SELECT executor_id FROM lockstep.executor WHERE ended_at IS NULL')
    eventually 30 is "$at_work" 1 || wrong "behind loss $times it has other readers"
done
# Another session holds the row of the incarnation that is lost: those that follow fail before they have inherited.
session_open BEGIN "SELECT executor_no FROM lockstep.executor WHERE executor_id = '$id' FOR UPDATE"
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'lockstep/control%'" >/dev/null
eventually 60 is "SELECT count(*) >= 2 FROM lockstep.executor n JOIN lockstep.executor o USING (host)
                  WHERE o.executor_id = '$id' AND n.executor_no > o.executor_no" t || wrong 'none follows'
session_close
eventually 30 is "SELECT string_agg(COALESCE(readers_limit::text, 'none'), ' ') FROM lockstep.executor
                  WHERE ended_at IS NULL AND executor_id <> '$id'" 1 ||
    wrong "behind incarnations that did not come up the limit is $sql_said"
id=$(sql 'SELECT executor_id FROM lockstep.executor WHERE ended_at IS NULL')
eventually 30 is "$at_work" 1 || wrong 'behind incarnations that did not come up it has other readers'
sql "SELECT lockstep.executor_set('$id', NULL)" >/dev/null
eventually 15 is "$at_work" 4 || wrong 'the limit cannot be lifted'
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'lockstep/control%'" >/dev/null
eventually 30 is "SELECT count(*) FROM lockstep.executor
                  WHERE ended_at IS NULL AND executor_id <> '$id' AND readers_limit IS NULL" 1 ||
    wrong 'an executor without a limit has one behind the loss of its sessions'
id=$(sql 'SELECT executor_id FROM lockstep.executor WHERE ended_at IS NULL')
eventually 30 is "$at_work" 4 || wrong 'it has other readers'
lockstep executor drain "$id" -q --reason 'to be moved'
eventually 10 grep -q 'event=draining' "$tmp/daemon.log"
refused 'is draining already' executor drain "$id"
sql "INSERT INTO let_go SELECT '$q', n FROM generate_series(45, 49) AS n"
status=0
wait $daemon || status=$?
expect 'drained' "$status" 0
status=0; lockstep executor drain "$id" 2>/dev/null || status=$?
expect 'it is gone' "$status" 2
no_locks_left
lockstep run explain "$g" | grep -q 'no executor works for queue' ||
    { echo 'run explain does not say that nobody is there'; failed=1; }
executors 1 "$q" 4
executors_wait || failed=1
ended "$g" Completed

cases_end
[ $failed = 0 ] || tail -40 "$tmp/daemon.log"
exit $failed
