#!/bin/bash
# Events of runs and phases are written to <topic>.events once and in their order: of a run with failures, of reopened
# runs, with two executors, after actions of an operator, and wherever the relay is killed.
# ctest: slow nosan timeout=180 long
. "$(dirname "$0")/../support/e2e.bash"
# events QUEUE: the values, in order of the topic
events() {
    kcat -C -q -b "$LOCKSTEP_TEST_BROKERS" -t "$1.events" -p 0 -o beginning -e -X isolation.level=read_committed \
        -f '%k|%s\n' 2>/dev/null
}
# story QUEUE [JQ]: the events, one line each
story() {
    events "$1" | sed 's/^[^|]*|//' | jq \
        -rc "${2:-select(true) | [.event, .order, .task.seq, .status, .tasks.completed, .tasks.failed, .tasks.cancelled] | map(select(. != null)) | join(\" \")}"
}
empty() { is "SELECT count(*) FROM lockstep.outbox JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$1'" 0; }
ended() { is "SELECT count(*) FROM lockstep.run_status WHERE queue = '$1' AND ended_at IS NULL" 0; }
queue() { lockstep queue create "$1" -q --create-topic "${@:2}"; }
task() { printf '{"order": %d, "sql": "%s"}\n' "$1" "$2"; }
run_probed() { # QUEUE PROBE
    LOCKSTEP_PROBE=$2 LOCKSTEP_PROBE_DIR=$tmp/$1 "${LOCKSTEP_BIN}-probed" executor run -d "$db" \
        -b "$LOCKSTEP_TEST_BROKERS" --queue "$1" --readers 1 2>"$tmp/$1.probed.log" &
}
three() { task 100 'SELECT 1'; task 100 'SELECT 2'; task 200 'SELECT 3'; task 300 'SELECT 4'; }
three_told='run_started
phase_opened 100
phase_done 100 2 0 0
phase_opened 200
phase_done 200 1 0 0
phase_opened 300
phase_done 300 1 0 0
run_ended Completed 4 0 0'
# once QUEUE: no event twice, the numbers dense, the key is the run
once() {
    expect "$1: ids" "$(events "$1" | sed 's/^[^|]*|//' | jq -r .id | sort | uniq -d)" ''
    expect "$1: keys" "$(events "$1" | jq -rR 'capture("^(?<key>[^|]*)[|](?<event>.*)$")
        | select(.key != (.event | fromjson | .run // "")) | "\(.key) \(.event)"')" ''
}

# Killed at each step of the first batch; another executor continues.
killed() {
    local q=$1 at=$2 pid status=0
    failed=0
    mkdir "$tmp/$q"
    three | lockstep publish -q --queue "$q" - >/dev/null
    run_probed "$q" "$at=kill"
    pid=$!
    wait "$pid" || status=$?
    expect "$at: killed" "$status" 137
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 1 2>"$tmp/$q.log" &
    pid=$!
    eventually 40 ended "$q" || failed=1
    eventually 20 empty "$q" || failed=1
    eventually 20 grep -q event=executor_started "$tmp/$q.log" || failed=1
    kill -TERM "$pid"
    wait "$pid" || failed=1
    expect "$at" "$(story "$q")" "$three_told"
    once "$q"
    [ $failed = 0 ] || cat "$tmp/$q.probed.log" "$tmp/$q.log"
    return $failed
}
declare -A pids
for at in relay.settled relay.numbered relay.sent relay.committed relay.noted release.done; do
    q=$(scratch_name)
    queue "$q" --events on
    killed "$q" "$at" &
    pids[$at]=$!
done

case_begin 'the events of a failed run and its retry come in their order'
q=$(scratch_name)
queue "$q" --events on --on-failure continue
{
    task 10 'SELECT 1'
    task 20 'SELECT mend()'
    task 20 'SELECT 1'
    task 30 'SELECT 1'
} | lockstep publish -q --queue "$q" --name nightly - >"$tmp/run"
run=$(cat "$tmp/run")
executors 2 "$q" 2
executors_wait || failed=1
first='run_started
phase_opened 10
phase_done 10 1 0 0
phase_opened 20
task_failed 20 1
phase_done 20 1 1 0
phase_opened 30
phase_done 30 1 0 0
run_ended PartiallyCompleted 3 1 0'
expect 'a failure' "$(story "$q")" "$first"
expect 'what an event says' "$(story "$q" \
    'select(.event == "task_failed") | [.queue, .run, .run_name, .task.attempt, .task.error, .at, .id] | map(type == "string" or type == "number") | all')" \
    true
expect 'whose' "$(story "$q" 'select(.event == "task_failed") | "\(.run) \(.run_name) \(.queue) \(.task.error)"')" \
    "$run nightly $q 42883: function mend() does not exist"
sql 'CREATE FUNCTION mend() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$'
lockstep run retry "$run" -q >/dev/null
executors 1 "$q" 1
executors_wait || failed=1
expect 'a retry' "$(story "$q")" "$first
run_reopened
tasks_reopened 20
phase_done 20 2 0 0
run_ended Completed 4 0 0"
once "$q"

case_begin 'acts of an operator on a run are events, and those on the rest of the queue, too'
q=$(scratch_name)
queue "$q" --events on
{ task 1 'SELECT 1/0'; task 2 'SELECT 2'; } | lockstep publish -q --queue "$q" - >"$tmp/run"
executors 1 "$q" 1
executors_wait || failed=1
lockstep queue pause "$q" -q --reason 'a look'
lockstep queue resume "$q" -q
lockstep run retry "$(cat "$tmp/run")" -q >/dev/null
lockstep run cancel "$(cat "$tmp/run")" -q --reason enough >/dev/null
executors 1 "$q" 1
executors_wait || failed=1
eventually 20 empty "$q" || failed=1
expect 'an operator' \
    "$(story "$q" '[.event, .order, .status, .tasks.failed, .tasks.cancelled] | map(select(. != null)) | join(" ")')" \
    'run_started
phase_opened 1
task_failed 1
run_stopped
phase_done 1 1 0
run_ended Failed 1 1
queue_paused
queue_resumed
run_reopened
tasks_reopened 1
tasks_reopened 2
run_cancelled
phase_done 1 0 1
run_ended Cancelled 0 2'
once "$q"

case_begin 'a queue without events has no topic, and begins with the runs that begin later'
q=$(scratch_name)
queue "$q"
three | lockstep publish -q --queue "$q" - >/dev/null
executors 1 "$q" 1
executors_wait || failed=1
expect 'off' "$(story "$q")" ''
lockstep queue set "$q" --events on -q
three | lockstep publish -q --queue "$q" - >/dev/null
executors 1 "$q" 1
executors_wait || failed=1
expect 'switched on' "$(story "$q")" "$three_told"

case_begin 'events of three executors are in the order of their causes'
q=$(scratch_name)
queue "$q" --events on
for ((i = 1; i <= 60; i++)); do
    task $i 'SELECT 1'
    task $i 'SELECT 2'
done | lockstep publish -q --queue "$q" - >/dev/null
executors 3 "$q" 2
executors_wait || failed=1
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 1 2>"$tmp/$q.log" &
eventually 20 empty "$q" || failed=1
expect 'many phases' "$(story "$q" 'select(.order) | "\(.event) \(.order)"')" \
    "$(for ((i = 1; i <= 60; i++)); do echo "phase_opened $i"; echo "phase_done $i"; done)"
expect 'many phases: last' "$(story "$q" | tail -n 1)" 'run_ended Completed 120 0 0'
once "$q"

case_begin 'an executor that is killed at any step leaves its work to another one'
for at in "${!pids[@]}"; do
    wait "${pids[$at]}" || { echo "$at: see above"; failed=1; }
done
cases_end
[ $failed = 0 ] || grep -h -e level=warn -e level=error "$tmp"/*.log | grep -v executor_rights || true
exit $failed
