#!/bin/bash
# A request to cancel travels on a connection of its own. One that is late does not hit the next task of its session:
# that is not begun there before the request has ended. Here it is held for longer than a reader waits for it, so the
# session is given up. A task that ran beyond its time-out has failed, though no request met it.
# ctest: nosan
. "$(dirname "$0")/../support/e2e.bash"
bad() { echo "$1"; failed=1; tail -n 20 "$tmp/log"; }
hold_create
sent() { [ -e "$tmp/probes/cancel.$1.hit" ]; }
active() {
    is "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'lockstep/reader' AND state = 'active'
          AND query ~ '$1'" 1
}
begins() { # PROBES READERS TASK...: an executor with these probes runs these tasks of a new queue; sets q and pid
    local probes=$1 readers=$2
    shift 2
    q=$(scratch_name)
    rm -rf "$tmp/probes"
    mkdir "$tmp/probes"
    lockstep queue create "$q" -q --create-topic --max-readers "$readers"
    sql 'DELETE FROM let_go'
    printf '%s\n' "$@" | lockstep publish --queue "$q" -q --on-failure continue - >/dev/null
    LOCKSTEP_PROBE_DIR=$tmp/probes LOCKSTEP_PROBE=$probes "$LOCKSTEP_BIN-probed" executor run -d "$db" \
        -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers "$readers" 2>"$tmp/log" &
    pid=$!
}
try() { # NAME FIRST NEXT cancel|timeout: the first task, which is asked to end while its request is held; the next one
    local q pid
    case_begin "a request to cancel that is late does not hit the next task of the session: $1"
    begins cancel.send=hold,cancel.sent=sleep:1 1 "$2" "$3"
    eventually 20 active first || bad "$1: the first task does not run"
    if [ "$4" = cancel ]; then
        eventually 20 is "SELECT count(*) FROM lockstep.task WHERE status = 'Processing'" 1
        lockstep task cancel "$(sql "SELECT min(task_id) FROM lockstep.task WHERE status = 'Processing'")" -q >/dev/null
    fi
    eventually 20 sent send || bad "$1: nothing was cancelled"
    sql "INSERT INTO let_go VALUES ('first')"
    eventually 20 active next || bad "$1: the next task does not run"
    touch "$tmp/probes/cancel.send.go"
    eventually 20 sent sent || bad "$1: the request was not sent"
    sql "INSERT INTO let_go VALUES ('next')"
    # One that an operator cancels may notice it by itself before its end is recorded.
    eventually 20 is "SELECT string_agg(CASE WHEN t.status = 'Terminated' AND t.seq = 0 AND '$4' = 'cancel'
                                                 THEN 'Completed'
                                             ELSE t.status END ||
                                        '/' || t.attempt_num || '/' || t.lost_num,
                                        ' '
                                        ORDER BY t.seq)
        FROM lockstep.task t JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$q'" \
        "$([ "$4" = timeout ] && echo Failed || echo Completed)/1/0 Completed/1/0" ||
        {
            bad "$1: not each task ended at its first attempt"
            sql 'SELECT task_id, status, attempt_num, lost_num, error FROM lockstep.task;
                SELECT * FROM lockstep.task_attempt'
        }
    if grep attempt_lost "$tmp/log"; then bad "$1: an attempt was lost"; fi
    kill -TERM "$pid"
    wait "$pid" || bad "$1: the executor ended with $?"
}
try 'time-out' '{"order": 1, "timeout": 0.2, "sql": ["SELECT hold($$first$$)"]}' \
    '{"order": 2, "sql": ["SELECT hold($$next$$)"]}' timeout
try 'in the pipeline' '{"order": 1, "sql": "SELECT hold($$first$$)"}' '{"order": 2, "sql": "SELECT hold($$next$$)"}' \
    cancel
try 'before steps' '{"order": 1, "timeout": 0.2, "sql": ["SELECT hold($$first$$)"]}' \
    '{"order": 2, "steps": [{"name": "a", "sql": "SELECT hold($$next$$)"}, {"name": "b", "sql": "SELECT 1"}]}' timeout

case_begin 'a request of an operator does not wait for long because the one before was slow to read'
LOCKSTEP_EXECUTOR_FROZEN_AFTER=60s begins requests.read=sleep:6000 2 '{"order": 1, "sql": "SELECT hold($$first$$)"}' \
    '{"order": 1, "sql": "SELECT hold($$next$$)"}'
of_queue="FROM lockstep.task t JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$q'"
eventually 20 is "SELECT count(*) $of_queue AND t.status = 'Processing'" 2 || bad 'the tasks do not run'
for n in 0 1; do
    lockstep task cancel "$(sql "SELECT t.task_id $of_queue AND t.seq = $n")" -q >/dev/null
    eventually 20 is "SELECT t.status $of_queue AND t.seq = $n" Terminated || bad "task $n is not cancelled"
done
[ -e "$tmp/probes/requests.read.hit" ] || bad 'the first request was not slow to read'
kill -TERM "$pid"
wait "$pid" || bad "the executor ended with $?"
cases_end
exit $failed
