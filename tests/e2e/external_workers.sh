#!/bin/bash
# External tasks under pressure: unreliable workers (external_workers.py) share phases with SQL tasks, two executors are
# killed in turn, runs and the queue are paused. The promises are judged by the rows that the tasks wrote. Then single
# cases: an operator cancels, fails and completes a worker's task, cancels a run while a worker takes a task, retries,
# replays; the last attempt; no reader at all.
# ctest: timeout=150 slow long
. "$(dirname "$0")/../support/e2e.bash"
role=$(scratch_name)
e2e_roles=("$role")
sql "CREATE TABLE effect (task_id bigint);
    CREATE ROLE $role LOGIN;
    GRANT lockstep_worker TO $role;
    GRANT INSERT ON effect TO $role"
as_worker="$db user=$role"
worker() { "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -v ON_ERROR_STOP=1 -d "$as_worker" -c "$1" 2>&1; }
executor() {
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 2 \
        2>>"$tmp/executor.$1.log" 7>&- &
    pids[$1]=$!
}
external() {
    for ((i = 0; i < $2; i++)); do
        echo "{\"order\": $1, \"type\": \"external\", \"max_attempts\": 500, \"retry_intervals\": [0.02]}"
    done
}
tasks() { # SEED: phases of external tasks, of SQL tasks, of both
    local order
    RANDOM=$1
    for order in 10 20 30 40 50 60 70 80 90; do
        case $((RANDOM % 3)) in
        0) external $order $((RANDOM % 25 + 1)) ;;
        1) sqls $order $((RANDOM % 15 + 1)) ;;
        *) external $order 8; sqls $order 8; external $order 3 ;;
        esac
    done
}
sqls() { for ((i = 0; i < $2; i++)); do echo "{\"order\": $1, \"sql\": \"SELECT 1\"}"; done; }
publish() { lockstep publish --queue "$q" -q "$@"; }
status() { sql "SELECT status FROM lockstep.run_status WHERE run_id = '$1'"; }

case_begin 'external tasks of workers on bad days are done once each, in the order of phases, though executors are killed'
seed=${LOCKSTEP_TEST_SEED:-$RANDOM}
echo "seed $seed"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 3 --external-lease 1s --runs serial
sql 'UPDATE lockstep.queue SET max_lost = 500'
pids=()
executor 0
executor 1
runs=()
for n in 1 2; do runs+=("$(tasks $((seed + n)) | publish -)"); done
mkfifo "$tmp/until"
/usr/bin/python3 "$here/external_workers.py" "$as_worker" "$q" "$seed" 6 <"$tmp/until" >"$tmp/did" \
    2>"$tmp/workers.log" &
workers=$!
exec 7>"$tmp/until"
for round in 1 2 3 4 5 6; do # the nemesis: at no particular moment
    done_before=$(sql "SELECT count(*) FROM lockstep.task WHERE status = 'Completed'")
    case $((round % 3)) in
    0)
        kill -9 "${pids[round / 3 - 1]}"
        wait "${pids[round / 3 - 1]}" 2>/dev/null || true
        executor $((round / 3 - 1))
        ;;
    1) lockstep queue pause "$q" -q; lockstep queue resume "$q" -q ;;
    2) open=$(sql "SELECT run_id FROM lockstep.run WHERE status = 'Running' ORDER BY run_no LIMIT 1")
       [ -z "$open" ] || { lockstep run pause "$open" -q >/dev/null && lockstep run resume "$open" -q >/dev/null; } ||
           true
        ;;
    esac
    eventually 20 is "SELECT count(*) >= least($done_before + 20, (SELECT sum(tasks) FROM lockstep.run))
        FROM lockstep.task WHERE status = 'Completed'" t
done
for run in "${runs[@]}"; do
    eventually 60 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Completed || failed=1
done
exec 7>&-
wait $workers
cat "$tmp/did"
expect 'errors that workers did not expect' "$(cat "$tmp/workers.log")" ''
expect 'stale tokens were refused' "$(grep -c '^LS001 ' "$tmp/did")" 1
expect 'leases ran out' \
    "$(sql "SELECT count(*) > 0 FROM lockstep.execution_log WHERE error LIKE 'lost%' AND worker IS NOT NULL")" t
expect 'external tasks with another number of effects than one' "$(sql "SELECT count(*) FROM (
    SELECT FROM lockstep.task t LEFT JOIN effect e USING (task_id) WHERE t.type = 'external' GROUP BY t.task_id
    HAVING count(e.task_id) <> 1) x")" 0
expect 'order' "$(sql "WITH p AS (SELECT run_no, \"order\", min(started_at) AS s, max(started_at + duration) AS e
                                  FROM lockstep.task GROUP BY 1, 2)
    SELECT count(*) FROM (SELECT s, lag(e) OVER (ORDER BY run_no, \"order\") AS before FROM p) d WHERE s < before")" 0
expect 'order, as every attempt says' \
    "$(sql "WITH p AS (SELECT r.run_no, l.\"order\", min(l.started_at) AS s, max(l.ended_at) AS e
                       FROM lockstep.execution_log l JOIN lockstep.run r USING (run_id) GROUP BY 1, 2)
    SELECT count(*) FROM (SELECT s, lag(e) OVER (ORDER BY run_no, \"order\") AS before FROM p) d WHERE s < before")" 0

# One by one, on a queue of its own without a single reader: external tasks need none.
kill "${pids[@]}"
wait "${pids[@]}" || failed=1
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 0 --external-lease 10min
executor 2
take() { worker "SELECT task_id || ' ' || quote_literal(updated_at) FROM lockstep.next_task('$q', '${1:-w}')"; }
report() { worker "SELECT status FROM lockstep.modify_task(${1/ /, }, '$2'${3:+, $3})"; } # "ID TOKEN" STATUS
taken() { got=$(take "$@") && [ -n "$got" ]; }
stale() { expect "$1" "$(report "$got" Completed | grep -o 'updated_at is stale')" 'updated_at is stale'; }
open_phase() {
    eventually 20 is \
        "SELECT count(*) FROM lockstep.phase_status WHERE run_id = '$1' AND \"order\" = $2 AND opened_at IS NOT NULL" \
        1
}

case_begin 'external tasks need no reader'
run=$({ external 1 1; external 2 1; } | publish -)
eventually 20 taken
expect 'reported' "$(report "$got" Completed)" Completed
eventually 20 taken # the second phase opens without a reader, too
expect 'reported' "$(report "$got" Completed)" Completed
eventually 10 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Completed

case_begin 'an operator completes, fails and cancels tasks of a worker, and the report of the worker is refused'
run=$({ external 1 3; external 2 1; } | publish - --name by-hand)
eventually 20 taken one; first=$got
lockstep task complete "${first%% *}" --reason 'sent by hand' -q >/dev/null
stale 'an operator completes what a worker has'
eventually 10 taken two
lockstep task fail "${got%% *}" --reason 'no such address' -q >/dev/null
stale 'an operator fails it'
expect 'the policy: the next phase is cancelled' "$(sql "SELECT t.status
    FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE run_id = '$run' AND \"order\" = 2")" Cancelled
eventually 10 taken three
lockstep task cancel "${got%% *}" -q >/dev/null
stale 'an operator cancels it'
eventually 10 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Failed
expect 'who did what' "$(sql "SELECT string_agg(t.status || ' ' || coalesce(t.worker, '-'), ',' ORDER BY t.task_id)
    FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE run_id = '$run'")" \
    'Completed one,Failed two,Terminated three,Cancelled -'

case_begin 'a retry of the run assigns the failed tasks and those cancelled for them, in order'
lockstep run retry "$run" -q >/dev/null
eventually 20 taken
again=$got
eventually 10 taken
expect 'nothing of the next phase yet' "$(take)" ''
report "$again" Completed >/dev/null
report "$got" Completed >/dev/null
eventually 20 taken
report "$got" Completed >/dev/null
eventually 10 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Completed

case_begin 'a replay gives out all tasks once more, in order'
lockstep replay --queue "$q" --run "$run" --mode all --execute --reason again >"$tmp/replay.log" 2>&1 ||
    { failed=1; cat "$tmp/replay.log"; }
for n in 1 2 3 4; do
    eventually 20 taken "replay$n"
    expect 'in order' "$(sql "SELECT \"order\" FROM lockstep.task WHERE task_id = ${got%% *}")" $((n < 4 ? 1 : 2))
    report "$got" Completed >/dev/null
done
eventually 10 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Completed
expect 'another attempt of each' "$(sql "SELECT min(n), bool_and(done)
    FROM (SELECT count(*) AS n, bool_or(status = 'Completed' AND worker LIKE 'replay%') AS done
          FROM lockstep.execution_log WHERE run_id = '$run' GROUP BY task_id) x")" '2|t'

case_begin 'a run that is cancelled while a worker takes a task of it ends, with that task, when the worker commits'
run=$(external 1 2 | publish -)
open_phase "$run" 1
mkfifo "$tmp/in"
"$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$as_worker" <"$tmp/in" >"$tmp/out" 2>&1 &
exec 8>"$tmp/in"
echo "BEGIN; SELECT 'took ' || task_id FROM lockstep.next_task('$q', 'quick');" >&8
eventually 10 grep -q took "$tmp/out"
lockstep run cancel "$run" -q >/dev/null
expect 'one is cancelled' "$(sql "SELECT string_agg(t.status::text, ' ' ORDER BY task_id)
    FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE run_id = '$run'")" 'Pending Cancelled'
echo 'COMMIT; SELECT 1;' >&8
eventually 4 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Cancelled # 5 s is the next question
expect 'the other is ended' "$(sql "SELECT string_agg(t.status::text, ' ' ORDER BY task_id)
    FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE run_id = '$run'")" 'Terminated Cancelled'

case_begin 'the last attempt of an external task that fails is Failed'
run=$(echo '{"order": 1, "type": "external", "max_attempts": 1}' | publish -)
eventually 20 taken
expect 'the last attempt' "$(report "$got" Error "error => 'no'")" Failed
case_begin 'no task is given out of a run or a queue that is paused, nor in a copy of the database'
run=$(external 1 1 | publish -)
open_phase "$run" 1
lockstep run pause "$run" -q >/dev/null
expect 'a run that is held' "$(take)" ''
lockstep run resume "$run" -q >/dev/null
lockstep queue pause "$q" -q
expect 'a queue that is paused' "$(take)" ''
lockstep queue resume "$q" -q
sql "UPDATE lockstep.queue SET server_system = '1' WHERE name = '$q'"
expect 'a copy of the database' "$(take | grep -o 'this is a copy')" 'this is a copy'
sql "UPDATE lockstep.queue SET server_system = NULL WHERE name = '$q'"
case_begin 'explain and task show name the worker that has the task'
expect 'explained' "$(lockstep task explain \
    "$(sql "SELECT task_id FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE run_id = '$run'")" -o json |
    jq -r '.[0].reason')" task_offered
taken 'host/9'
expect 'explained' "$(lockstep task explain "${got%% *}" -o json | jq -r '.[0] | .reason + " " + .sentence' |
    grep -c 'task_with_worker .* with worker host/9')" 1
expect 'shown' "$(lockstep task show "${got%% *}" -o json | jq -r '.task.worker')" 'host/9'
report "$got" Completed >/dev/null
eventually 10 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Completed
cases_end
exit $failed
