#!/bin/bash
# A queue whose own statements fail is set aside and keeps its promises: tasks that could not be returned are returned
# when the trouble is over, and the other queue of the executor loses nothing.
# ctest: timeout=120 nosan
. "$(dirname "$0")/../support/e2e.bash"
bad() { echo "$1"; failed=1; tail -n 20 "$tmp/log"; }
hold_create
sql "CREATE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''trouble''; END'"
a=$(scratch_name) b=$(scratch_name)
for queue in "$a" "$b"; do lockstep queue create "$queue" -q --create-topic --max-readers 4; done
id=$(sql "SELECT queue_id FROM lockstep.queue WHERE name = '$a'")
let_go() { sql "INSERT INTO let_go VALUES ('$1')"; }
send() { printf '%s\n' "${@:2}" | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$1" -p 0; } # QUEUE MESSAGE...
tasks() {
    echo "SELECT string_agg(t.status || t.attempt_num::text, ' ' ORDER BY t.task_id)
        FROM lockstep.task t JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$1'"
}
daemon() {
    : >"$tmp/log"
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --readers 4 "$@" 2>>"$tmp/log" &
    pid=$!
}
aside() { eventually 15 grep -q "event=queue_set_aside.*$1" "$tmp/log"; }
# no_returns, no_claims: such statements of queue a fail; end_trouble: they succeed again
no_returns() {
    sql "CREATE TRIGGER no_returns BEFORE UPDATE ON lockstep.task FOR EACH ROW
        WHEN (OLD.executor_no IS NOT NULL AND NEW.executor_no IS NULL AND NEW.status = 'Pending'
              AND NEW.queue_id = $id) EXECUTE FUNCTION trouble()"
}
no_claims() {
    sql "CREATE TRIGGER no_claims BEFORE UPDATE OF next_offset ON lockstep.queue FOR EACH ROW
        WHEN (NEW.queue_id = $id) EXECUTE FUNCTION trouble()"
}
end_trouble() {
    sql 'SET client_min_messages = error; DROP TRIGGER IF EXISTS no_returns ON lockstep.task;
         DROP TRIGGER IF EXISTS no_claims ON lockstep.queue'
}
in_hand() { # of the tasks of queue a that have not started, how many are an executor's
    is "SELECT count(*) FROM lockstep.task WHERE queue_id = $id AND status = 'Pending' AND executor_no IS NOT NULL" "$1"
}
same_incarnation() { ! grep -q 'event=incarnation_lost' "$tmp/log" || bad "$1: the incarnation is lost"; }

case_begin 'tasks that could not be returned are returned when the trouble is over'
daemon --queue "$b" --queue "$a"
lockstep publish --queue "$b" -q - >/dev/null <<<"{\"order\": 1, \"sql\": \"SELECT hold('$b')\"}"
eventually 15 is "$(tasks "$b")" Processing1 || bad 'the task of the other queue does not run'
send "$a" '{"order": 1, "previous_order": 0, "sql": "SELECT hold('"'first'"')"}' \
    '{"order": 2, "previous_order": 1, "sql": "SELECT 1"}' '{"order": 2, "previous_order": 1, "sql": "SELECT 2"}'
eventually 15 is "$(tasks "$a")" 'Processing1 Pending1 Pending1' || bad 'the first phase does not run'
eventually 15 in_hand 2 || bad 'the second phase has no owner'
no_returns
no_claims
send "$a" '{"order": 3, "previous_order": 2, "sql": "SELECT hold('"'third'"')"}' \
    '{"order": 4, "previous_order": 3, "sql": "SELECT 4"}'
eventually 15 grep -q "event=tasks_not_returned.*$a" "$tmp/log" || bad 'the tasks in hand are not to be returned'
end_trouble
let_go first
eventually 30 is "$(tasks "$a")" 'Completed1 Completed1 Completed1 Processing1 Pending1' ||
    bad "the run does not continue: $(sql "$(tasks "$a")")"
same_incarnation 'tasks that could not be returned'
is "$(tasks "$b")" Processing1 || bad 'the task of the other queue has lost its attempt'
let_go third
eventually 15 is "$(tasks "$a")" 'Completed1 Completed1 Completed1 Completed1 Completed1' || bad 'the run does not end'
eventually 15 grep -q "event=queue_is_back.*$a" "$tmp/log" || bad 'the trouble is not over'

case_begin 'the queue whose tasks cannot be returned is set aside, not the one whose requests are read'
# The executor reads the requests of the other queue first, because that is its first queue.
: >"$tmp/log"
send "$a" '{"order": 5, "previous_order": 4, "sql": "SELECT hold('"'fifth'"')"}' \
    '{"order": 6, "previous_order": 5, "sql": "SELECT 6"}'
eventually 15 in_hand 1 || bad 'the second phase has no owner'
no_returns
executor=$(sql 'SELECT executor_id FROM lockstep.executor WHERE ended_at IS NULL')
lockstep executor set "$executor" --readers 0 -q >/dev/null
aside "$a" || bad 'a queue whose tasks cannot be returned is not set aside'
! grep -q "event=queue_set_aside.*$b" "$tmp/log" || bad 'the other queue is set aside'
end_trouble
eventually 30 in_hand 0 || bad 'the tasks are not returned when they can be'
lockstep executor set "$executor" --readers 4 -q >/dev/null
eventually 15 in_hand 1 || bad 'the tasks have no owner again'
same_incarnation 'fewer readers'

case_begin 'a drain that cannot return the tasks of one queue cancels no task of the other one'
: >"$tmp/log"
no_returns
kill -TERM "$pid"
aside "$a" || bad 'a queue whose tasks cannot be returned is not set aside'
end_trouble
eventually 30 in_hand 0 || bad 'the tasks are not returned when they can be'
let_go fifth
let_go "$b"
ends_well "$pid"
expect 'the task of the other queue' "$(sql "$(tasks "$b")")" Completed1
same_incarnation 'a drain'

case_begin 'a queue whose server could not be recognised at the start is recognised later'
c=$(scratch_name)
lockstep queue create "$c" -q --create-topic
known="SELECT server_system IS NOT NULL FROM lockstep.queue WHERE name = '$c'"
expect 'the server is known' "$(sql "$known")" f
sql "CREATE TRIGGER not_recognised BEFORE UPDATE OF server_system ON lockstep.queue FOR EACH ROW
     EXECUTE FUNCTION trouble()"
daemon --queue "$b" --queue "$c"
aside "$c" || bad 'a queue whose server is not recognised is not set aside'
sql 'DROP TRIGGER not_recognised ON lockstep.queue'
lockstep publish --queue "$c" -q - >/dev/null <<<'{"order": 1, "sql": "SELECT 1"}'
eventually 30 is "$(tasks "$c")" Completed1 || bad 'the queue does not continue'
expect 'the server is known' "$(sql "$known")" t
same_incarnation 'a server that is not recognised'
kill -TERM "$pid"
ends_well "$pid"

case_begin 'queues whose rows cannot be read at the start begin later'
mkdir "$tmp/probes"
: >"$tmp/log"
LOCKSTEP_PROBE_DIR=$tmp/probes LOCKSTEP_PROBE=start.enrolled=hold "$LOCKSTEP_BIN-probed" executor run -d "$db" \
    -b "$LOCKSTEP_TEST_BROKERS" --readers 4 --queue "$b" --queue "$c" 2>>"$tmp/log" &
pid=$!
eventually 20 test -e "$tmp/probes/start.enrolled.hit" || bad 'the executor does not start'
session_open BEGIN 'LOCK TABLE lockstep.queue IN ACCESS EXCLUSIVE MODE'
touch "$tmp/probes/start.enrolled.go"
aside "$b" || bad 'the first queue is not set aside'
aside "$c" || bad 'the second queue is not set aside'
echo 'COMMIT;' >&"$session"
session_close
for queue in "$b" "$c"; do
    lockstep publish --queue "$queue" -q - >/dev/null <<<'{"order": 1, "sql": "SELECT 1"}'
    eventually 30 is "$(tasks "$queue")" 'Completed1 Completed1' || bad 'a queue does not begin'
done
same_incarnation 'rows that cannot be read'
kill -TERM "$pid"
ends_well "$pid"
cases_end
exit $failed
