#!/bin/bash
# An executor is killed, or is frozen for longer than T2, at every point within and between the steps of a task. Another
# one continues with the step that is not done; each step has its effect once, in order, and an executor that wakes
# commits nothing. Several points at a time, each with a queue of its own. LOCKSTEP_TEST_POINTS names other ones.
# ctest: nosan timeout=180
. "$(dirname "$0")/../support/e2e.bash"
. "$here/probes.bash"
points_create
sql "CREATE TABLE effect (n int GENERATED ALWAYS AS IDENTITY, q text, step text);
     CREATE FUNCTION did(q text, step text) RETURNS void LANGUAGE sql BEGIN ATOMIC INSERT INTO effect (q, step)
     VALUES (q, step);
     END"

# a: one statement; b: two; c fails the first time, so a retry is among them; d changes its session.
point_tasks() {
    local q=$1
    printf '{"order": 1, "max_attempts": 9, "retry_intervals": [0.05], "steps": ['
    printf '{"name": "a", "sql": "SELECT did($1, $2)", "params": ["%s", "a"]}, ' "$q"
    printf '{"name": "b", "sql": ["SELECT did($1, $2)", "SELECT pg_sleep(0.06)"], "params": [["%s", "b"], []]}, ' "$q"
    printf '{"name": "c", "sql": "SELECT did('"'%s', 'c'"'); SELECT once('"'%s', 'fails'"')"}, ' "$q" "$q"
    printf '{"name": "d", "sql": "SET work_mem = '"'1MB'"'; SELECT did('"'%s', 'd'"')"}]}\n' "$q"
    printf '{"order": 2, "sql": "SELECT did('"'%s', 'after'"')"}\n' "$q"
}
points="step.begun"
for n in 1 2 3 4; do # the third is the step that fails; the steps behind it come in the next attempt
    points+=" block.begun@$n block.ran@$n block.completed@$n"
done
points+=" block.committed block.committed@2 step.done step.done@2 fail.send fail.answered step.begun@2 block.committed@3 step.done@4 block.begun@5 block.completed@5"

# go ACTION POINT...: all of them at once
go() {
    local action=$1 i queues=() got
    shift
    case_begin "the heir of these ends well ($action): $*"
    points_inherited "$action" "$@"
    for i in "${!queues[@]}"; do
        got=$(sql "SELECT string_agg(step, ' ' ORDER BY n) FROM effect WHERE q = '${queues[i]}'")
        [ "$got" = 'a b c d after' ] || point_wrong "${queues[i]}" "effects: $got"
        got=$(sql "SELECT t.status, t.step FROM lockstep.task t JOIN lockstep.queue q USING (queue_id)
            WHERE q.name = '${queues[i]}' ORDER BY t.task_id LIMIT 1")
        [ "$got" = 'Completed|d' ] || point_wrong "${queues[i]}" "the row: $got"
    done
    points_report "$action at POINT: the task continues with the step that is not done, each step once and in order" \
        "$@"
}

read -ra all <<<"${LOCKSTEP_TEST_POINTS:-$points}"
for ((from = 0; from < ${#all[@]}; from += 24)); do
    go kill "${all[@]:from:24}"
done 2>/dev/null
[ -n "${LOCKSTEP_TEST_POINTS:-}" ] ||
    go stop step.begun block.ran block.completed@2 block.completed@3 step.done block.begun@5 2>/dev/null
case_begin 'no lock is left'
no_locks_left
printf '%s points, %s seconds\n' "${#all[@]}" "$SECONDS"
cases_end
exit $failed
