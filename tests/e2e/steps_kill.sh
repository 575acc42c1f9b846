#!/bin/bash
# An executor is killed, or stands still for longer than T2, at every point within and between the steps of a task: another one
# goes on with the step that is not done; each step has its effect once, in order, and one that wakes commits nothing.
# Several points at a time, each with a queue of its own. LOCKSTEP_TEST_POINTS names other ones.
# ctest: nosan timeout=180
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/shell.bash"
. "$here/ledger.bash"
. "$here/probes.bash"
tmp=$(mktemp -d)
trap 'jobs_end; scratch_drop; rm -rf "$tmp"' EXIT
scratch_database 2>/dev/null
points_create
sql "CREATE TABLE effect (n int GENERATED ALWAYS AS IDENTITY, q text, step text);
     CREATE FUNCTION did(q text, step text) RETURNS void LANGUAGE sql BEGIN ATOMIC INSERT INTO effect (q, step) VALUES (q, step); END"

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
for n in 1 2 3 4; do # the third is the step that fails; what follows it comes in the next attempt
    points+=" block.begun@$n block.ran@$n block.completed@$n"
done
points+=" block.committed block.committed@2 step.done step.done@2 fail.send fail.answered step.begun@2 block.committed@3 step.done@4 block.begun@5 block.completed@5"

# go ACTION POINT...: all of them at once
go() {
    local action=$1 i queues=() got
    shift
    points_inherited "$action" "$@"
    for i in "${!queues[@]}"; do
        got=$(sql "SELECT string_agg(step, ' ' ORDER BY n) FROM effect WHERE q = '${queues[i]}'")
        expect "$action at ${*:i+1:1}: effects" "$got" 'a b c d after'
        expect "$action at ${*:i+1:1}: the row" "$(sql "SELECT t.status, t.step FROM lockstep.task t JOIN lockstep.queue q USING (queue_id) WHERE q.name = '${queues[i]}' ORDER BY t.task_id LIMIT 1")" 'Completed|d'
    done
}

read -ra all <<<"${LOCKSTEP_TEST_POINTS:-$points}"
for ((from = 0; from < ${#all[@]}; from += 24)); do
    go kill "${all[@]:from:24}"
done 2>/dev/null
[ -n "${LOCKSTEP_TEST_POINTS:-}" ] || go stop step.begun block.ran block.completed@2 block.completed@3 step.done block.begun@5 2>/dev/null
expect 'locks that are left' "$(sql "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")" 0
printf '%s points, %s seconds\n' "${#all[@]}" "$SECONDS"
exit $failed
