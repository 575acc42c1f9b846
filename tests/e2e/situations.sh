#!/bin/bash
# Why is it not running? Each situation is made for real, explain is asked, and its answer is scored: the cause, the
# culprit, and the remedy, which is cut out of the answer, run, and the queue continues. The situations, and where they
# are:
#
#   1, 1b, 1c  a lock of an idle session; without pg_read_all_stats; four tasks at once     explain.sh
#   2          queue paused                                                                 remedies.sh
#   3, 4       run paused; failed phase under the policy pause                              here
#   5          no executor                                                                  here, explain.sh (ended with
#       an error)
#   6          no executor has the command                                                  here
#   7          executor frozen                                                              explain.sh
#   8, 8b      all readers busy, of the queue or of its executors; max_readers 0            here
#   9, 10      retry waiting; not_before in the future                                      here
#   11         open foreign Kafka transaction                                               explain.sh, topic_test.c
#   12         topic deleted, made again                                                    topic_test.c,
#       topic_accept_test.c
#   13         queue halted (unknown_run)                                                   remedies.sh
#   14         executor cannot reach its broker                                             explain.sh
#   15, 15b    connected to a standby; database down and back                               failover.sh; here
#   16         previous run unfinished                                                      here
#   17         external worker has the lease                                                here
#   18         hole in seq                                                                  remedies.sh
#   19         max_readers held by another run; executors set to 0 readers                   here
#   20, 20b    prepared transaction; chain of locks                                         explain.sh
#   21         publisher killed; alive in a stream                                          remedies.sh; here
#   22         task login refused; no connection free                                       explain.sh; here
#   23         foreign or implicit run without end                                          remedies.sh
#   further    a queue that is set aside                                                    own_trouble.sh
#              locks of phases taken by a session that is no executor's                     explain.sh, locks_taken.sh
#              executors that drain, lookahead used up                                      here
# ctest: nosan timeout=120
. "$(dirname "$0")/../support/e2e.bash"
few=$(scratch_name)
e2e_roles=("$few")
e2e_leave() { exec 8>&-; }
sql <<SQL
CREATE TABLE let_go (n int); CREATE SEQUENCE tried;
CREATE FUNCTION hold(n int) RETURNS void LANGUAGE plpgsql AS \$\$
BEGIN WHILE NOT EXISTS (SELECT FROM let_go l WHERE l.n = hold.n) LOOP PERFORM pg_sleep(0.01); END LOOP; END \$\$;
CREATE ROLE $few LOGIN CONNECTION LIMIT 0 IN ROLE lockstep_task
SQL
export LOCKSTEP_CONFIG=$tmp/lockstep.conf LOCKSTEP_PROBE_DIR=$tmp
printf '[log]\nlevel = info\n' >"$LOCKSTEP_CONFIG"
me=$(sql 'SELECT session_user')
situation() { # SENTENCE [MAX_READERS [OPTION...]]: a case with a queue of its own
    case_begin "$1"
    q=$(scratch_name)
    lockstep queue create "$q" -q --create-topic --max-readers "${2:-2}" --max-attempts 1 "${@:3}"
}
serve() {
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --readers 2 --queue "$q" "$@" \
        2>>"$tmp/executor.log" &
    pid=$!
}
leaves() { jobs_tell TERM "$pid"; wait "$pid" || true; }
publish() { printf '%s\n' "$@" | lockstep publish --queue "$q" -q -; } # TASK...
task_of() {
    sql "SELECT task_id FROM lockstep.task JOIN lockstep.queue USING (queue_id)
        WHERE queue.name = '$q' AND task.name = '$1'"
}
status() {
    is "SELECT task.status FROM lockstep.task JOIN lockstep.queue USING (queue_id)
        WHERE queue.name = '$q' AND task.name = '$1'" "$2"
}
completed() {
    eventually 20 is "SELECT status FROM lockstep.run WHERE run_id = '$1' AND ended_at IS NOT NULL" \
        "${2:-Completed}" || { lockstep run explain "$1"; tail -5 "$tmp/executor.log"; exit 1; }
}
# says SENTENCE COMMAND...: within 10 s a line of the answer is like SENTENCE, and the remedy is in $helps
says() {
    local sentence=$1
    shift
    if ! eventually 10 answer "$sentence" "$@"; then
        printf 'wanted: %s\n' "$sentence"; cat "$tmp/answer"; failed=1; helps=''
    fi
}
answer() {
    lockstep "${@:2}" >"$tmp/answer" 2>&1 && grep -qE -- "^$1" "$tmp/answer" &&
        helps=$(grep -E -A1 -- "^$1" "$tmp/answer" | sed -n 2p)
}
# takes N PATTERN: the N-th command of the remedy is like PATTERN, and is run as it is printed
takes() {
    local command
    command=$(grep -oP '(?:lockstep|kill|SELECT) (?:(?![;,.](?: |$)| \().)+' <<<"$helps" | sed -n "$1p")
    [[ $command =~ ^$2$ ]] || { echo "printed: $command ($helps), wanted: $2"; failed=1; return 0; }
    case $command in
    SELECT*) sql "$command" >/dev/null || failed=1 ;;
    *) eval "$command" >"$tmp/taken" 2>&1 || { echo "$command: $(cat "$tmp/taken")"; failed=1; } ;;
    esac
}
id='[0-9a-f-]{36}'

situation '5: no executor works for the queue'
run=$(publish '{"order": 1, "sql": "SELECT 1"}')
says "no executor works for queue $q; none has ever reached this database for it$" run explain "$run"
command=$(grep -oP 'lockstep executor run (?:(?![.] ).)+' <<<"$helps" | head -1)
"$LOCKSTEP_BIN" ${command#lockstep } -d "$db" -b "$LOCKSTEP_TEST_BROKERS" 2>>"$tmp/executor.log" & pid=$!
completed "$run"

situation 'drain: all executors are to end' 2
leaves
serve
run=$(publish '{"order": 1, "name": "a", "sql": "SELECT hold(1)"}')
eventually 15 status a Processing
executor=$(sql "SELECT executor_id FROM lockstep.executor WHERE pid = $pid")
lockstep executor drain "$executor" -q >/dev/null
says "all executors of queue $q \(1\) are draining for $me" run explain "$run"
sql 'INSERT INTO let_go VALUES (1)'
wait "$pid" || failed=1
serve
completed "$run"

case_begin '3: run paused; 16: previous run unfinished; 8: all readers busy; 19: they are in use by another run'
run=$(publish '{"order": 1, "name": "b", "sql": "SELECT hold(2)"}' \
    '{"order": 1, "name": "c", "sql": "SELECT hold(2)"}' '{"order": 1, "name": "d", "sql": "SELECT 1"}' \
    '{"order": 2, "name": "e", "sql": "SELECT 1"}')
eventually 15 status b Processing
eventually 15 status c Processing
says "no reader of queue $q is free: 2 of 2 are in use \(2 by run $run\); the longest at work is task [0-9]+ \"[bc]\" of order 1 on .*, for " \
    run explain "$run"
takes 1 "lockstep queue set $q --max-readers 4"
expect 'the bound' "$(sql "SELECT max_readers FROM lockstep.queue WHERE name = '$q'")" 4
grep -Eq "^task [0-9]+ \"[bc]\" of order 1 runs for .*, backend [0-9]+$" "$tmp/answer" ||
    { cat "$tmp/answer"; failed=1; }
lockstep run pause "$run" -q --reason 'look first'
says "run $run is paused by $me: look first" run explain "$run"
takes 1 "lockstep run resume $run"
sql 'INSERT INTO let_go VALUES (2)'
completed "$run"
run=$(publish '{"order": 1, "name": "f", "sql": "SELECT hold(3)"}')
next=$(publish '{"order": 1, "sql": "SELECT 1"}')
eventually 15 status f Processing
says "run $next waits for the end of run $run, which is Running" run explain "$next"
takes 1 "lockstep run cancel $run"
completed "$next"
completed "$run" Cancelled

case_begin '8b: max_readers 0; 19: set to no reader'
lockstep queue set "$q" --max-readers 0 -q
run=$(publish '{"order": 1, "sql": "SELECT 1"}')
says "queue $q may use no reader: its bound is 0, set by $me" run explain "$run"
takes 1 "lockstep queue set $q --max-readers 1"
completed "$run"
executor=$(sql "SELECT executor_id FROM lockstep.executor WHERE pid = $pid")
lockstep executor set "$executor" --readers 0 -q
eventually 15 grep -q 'event=readers_set' "$tmp/executor.log" # it has heard of it before the run comes
run=$(publish '{"order": 1, "sql": "SELECT 1"}')
says "all executors of queue $q \(1\) are set to 0 readers by $me" run explain "$run"
takes 1 "lockstep executor set $executor --readers 1"
completed "$run"

case_begin '8: all readers of the executors are busy, and the bound of the queue is not reached, or is'
lockstep queue set "$q" --max-readers 2 -q
run=$(publish '{"order": 1, "name": "r", "sql": "SELECT hold(5)"}' \
    '{"order": 1, "name": "s", "sql": "SELECT hold(5)"}' '{"order": 1, "name": "t", "sql": "SELECT 1"}')
eventually 15 status r Processing
busy="all readers of the executors of queue $q"
limit="executor $executor is set to use 1 of its 2"
says "$busy \(1\) are at work \(1 by run $run\); the longest .*; its bound of 2 is not reached, and $limit$" \
    run explain "$run"
takes 1 "lockstep executor set $executor --readers 2"
eventually 15 status s Processing
says "no reader of queue $q is free: 2 of 2 are in use .*; its executors have no more either$" run explain "$run"
takes 1 "lockstep queue set $q --max-readers 4"
says "$busy \(2\) are at work \(2 by run $run\); .*; its bound of 4 is not reached$" run explain "$run"
remedy=$helps
lockstep queue pause "$q" -q --reason 'look first' # then no executor helps
lockstep run explain "$run" >"$tmp/answer"
if grep "^$busy" "$tmp/answer"; then failed=1; fi
lockstep queue resume "$q" -q
helps=$remedy
command=$(grep -oP 'lockstep executor run (?:(?![.] ).)+' <<<"$helps" | head -1)
"$LOCKSTEP_BIN" ${command#lockstep } -d "$db" -b "$LOCKSTEP_TEST_BROKERS" 2>>"$tmp/executor.log" & second=$!
eventually 15 status t Completed
told_to_end "$second"
sql 'INSERT INTO let_go VALUES (5)'
completed "$run"

case_begin 'the lookahead of the queue is used up'
lockstep queue set "$q" --lookahead 1 --max-readers 2 -q
lockstep executor set "$executor" --readers 2 -q
run=$(publish '{"order": 1, "name": "g", "sql": "SELECT hold(4)"}' '{"order": 2, "sql": "SELECT 1"}' \
    '{"order": 3, "sql": "SELECT 1"}')
says "the lookahead of queue $q is used up: 1 phase claimed and not opened" queue explain "$q"
takes 1 "lockstep queue set $q --lookahead 2"
eventually 10 is "SELECT count(*) FROM lockstep.phase JOIN lockstep.run USING (run_no) WHERE run_id = '$run'" 3
sql 'INSERT INTO let_go VALUES (4)'
completed "$run"

case_begin '6: no executor has the command'
run=$(publish '{"order": 1, "name": "h", "command": "act"}')
says "task [0-9]+ \"h\" of order 1 needs command:act, which none of the executors of its queue \(1\) has in its configuration" \
    run explain "$run"
printf '[commands]\nact = /bin/true\n' >"$LOCKSTEP_CONFIG"
# REMEDY_ABLE.
expect 'its log has the same' \
    "$(grep -o 'event=task_left.*' "$tmp/executor.log" | grep -o 'kill -HUP [0-9]*' | tail -1)" "kill -HUP $pid"
takes 1 "kill -HUP $pid"
completed "$run"

case_begin '9: retry waiting; 10: not_before in the future'
lockstep queue set "$q" --max-attempts 2 --retry-intervals 3600 -q
run=$(publish "{\"order\": 1, \"name\": \"i\", \"sql\": \"SELECT 1 / (nextval('tried') - 1)\"}")
says "attempt 1 of task [0-9]+ \"i\" of order 1 failed \(22012: division by zero\); the next one is due in 59 m" run \
    explain "$run"
takes 1 "lockstep task retry $(task_of i)"
completed "$run"
run=$(publish '{"order": 1, "name": "j", "not_before": "2099-01-01T00:00:00Z", "sql": "SELECT 1"}')
says "task [0-9]+ \"j\" of order 1 may start in [0-9]+ d .*, at 2099-01-01" run explain "$run"
takes 1 "lockstep task retry $(task_of j)"
completed "$run"

case_begin '17: external worker has the lease'
run=$(publish '{"order": 1, "name": "k", "type": "external", "kind": "mail"}')
says "task [0-9]+ \"k\" of order 1 waits for a worker of kind mail to ask for it" run explain "$run"
sql "SELECT FROM lockstep.next_task('$q', 'host/7')" >/dev/null
says "task [0-9]+ \"k\" of order 1 is with worker host/7 for .*; its lease ends in " run explain "$run"
takes 1 "lockstep task cancel $(task_of k)"
eventually 10 is "SELECT status FROM lockstep.run WHERE run_id = '$run' AND ended_at IS NOT NULL" Failed ||
    is "SELECT status FROM lockstep.run WHERE run_id = '$run'" Cancelled || { lockstep run explain "$run"; failed=1; }

case_begin '21: a publisher that lives, in a stream'
mkfifo "$tmp/stream"
run=6f6b2a52-7f4f-4c55-9f2e-94c0b8d2b021
lockstep publish --queue "$q" -q --run "$run" --stream - <"$tmp/stream" >/dev/null 2>&1 &
exec 8>"$tmp/stream"
echo '{"order": 1, "name": "l", "sql": "SELECT 1"}' >&8
eventually 15 status l Completed
says "every claimed task of run $run \(1\) is finished; its end has not come: its producer is at work \(backend [0-9]+: $me, lockstep/producer" \
    run explain "$run"
exec 8>&-
completed "$run"

situation '4: a failed phase under the policy pause' 2 --on-failure pause
leaves
sql "ALTER SEQUENCE tried RESTART"
serve
run=$(publish "{\"order\": 1, \"sql\": \"SELECT 1 / (nextval('tried') - 1)\"}" '{"order": 2, "sql": "SELECT 1"}')
says "run $run waits for an operator \(on_failure = pause\): task [0-9]+ of order 1 failed: division by zero" run \
    explain "$run"
takes 1 "lockstep run retry $run"
completed "$run"
sql "ALTER SEQUENCE tried RESTART"
for way in 'resume Completed' 'cancel Cancelled'; do
    run=$(publish "{\"order\": 1, \"sql\": \"SELECT 1 / (nextval('tried') - nextval('tried') + 1)\"}" \
        '{"order": 2, "sql": "SELECT 1"}')
    says "run $run waits for an operator" run explain "$run"
    takes "$([ "${way% *}" = resume ] && echo 2 || echo 3)" "lockstep run ${way% *} $run"
    eventually 15 is "SELECT ended_at IS NOT NULL FROM lockstep.run WHERE run_id = '$run'" t ||
        { lockstep run explain "$run"; failed=1; }
done
leaves

situation '22: no connection is free for task SQL'
run=$(publish '{"order": 1, "sql": "SELECT 1"}')
"$LOCKSTEP_BIN" executor run -d "$db" -s "postgres.task_conninfo=$db user=$few" -b "$LOCKSTEP_TEST_BROKERS" \
    --queue "$q" --until-idle 2>"$tmp/few.log" &
pid=$!
says "executor .* \(pid $pid\) failed and starts again: .*too many connections for role \"$few\"" run explain "$run"
jobs_tell TERM "$pid"
wait "$pid" || true

case_begin '15b: the database is away'
status=0
"$LOCKSTEP_BIN" run explain "$run" -d "$db port=1" >"$tmp/answer" 2>&1 || status=$?
expect 'it is said' "$status" 3
cases_end
exit $failed
