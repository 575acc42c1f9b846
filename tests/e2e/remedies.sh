#!/bin/bash
# The remedies of the tool are followed literally: each case makes a situation, asks the tool, runs the command of the
# answer, and the queue continues.
# ctest: nosan timeout=120
. "$(dirname "$0")/../support/e2e.bash"
export LOCKSTEP_PROBE_DIR=$tmp
queues=() options=()
for n in 0 1 2 3 4 5 6 7; do
    queues+=("$(scratch_name)")
    lockstep queue create "${queues[n]}" -q --create-topic
    options+=(--queue "${queues[n]}")
done
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --readers 4 "${options[@]}" 2>"$tmp/executor.log" &
situation() { q=${queues[0]} queues=("${queues[@]:1}"); case_begin "$1"; }
put() { kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0; }
u() { printf '6f6b2a52-7f4f-4c55-9f2e-94c0b8d2b%03d' "$1"; }
echo '{"order": 1, "sql": "SELECT 1"}' >"$tmp/one.jsonl"
publish() { run=$(lockstep publish --queue "$q" "$@" "$tmp/one.jsonl" 2>"$tmp/notices"); }
ended() {
    eventually 15 is "SELECT status FROM lockstep.run WHERE run_id = '$1' AND ended_at IS NOT NULL" "$2" ||
        { lockstep run explain "$1"; tail -n 20 "$tmp/executor.log"; exit 1; }
}
unfinished() {
    is "SELECT count(*) FROM lockstep.task JOIN lockstep.queue USING (queue_id)
        WHERE queue.name = '$q' AND task.status NOT IN ('Completed', 'Failed')" "$1"
}
# printed FILE N: the N-th command that is printed there
printed() { grep -oP 'lockstep (?:(?![;,.](?: |$)).)+' "$1" | sed -n "$2p" || true; }
# take FILE N PATTERN: that command is like PATTERN; it is run unchanged
take() {
    local command
    command=$(printed "$1" "$2")
    [[ $command =~ ^$3$ ]] || { echo "printed: $command, wanted: $3"; cat "$1"; exit 1; }
    eval "$command" >"$tmp/taken" 2>&1 || { echo "$command: $(cat "$tmp/taken")"; exit 1; }
}
explain() { lockstep "$1" explain "$2" >"$tmp/explained"; }
id='[0-9a-f-]{36}'

situation 'an implicit run, and a published one behind it: publish says it, explain says it'
echo '{"order": 100, "previous_order": 0, "sql": "SELECT pg_sleep(0.1)"}' | put
eventually 15 is \
    "SELECT count(*) FROM lockstep.run JOIN lockstep.queue USING (queue_id) WHERE queue.name = '$q' AND implicit" 1
publish
eventually 15 unfinished 1
grep -q 'has not ended, and this run waits for it: its messages name no run' "$tmp/notices" ||
    { cat "$tmp/notices"; failed=1; }
expect 'publish and explain say the same' "$(explain run "$run"; printed "$tmp/explained" 1)" \
    "$(printed "$tmp/notices" 1)"
take "$tmp/notices" 1 "lockstep run end $id"
ended "$run" Completed
expect 'the implicit run' "$(sql "SELECT status FROM lockstep.run JOIN lockstep.queue USING (queue_id)
    WHERE queue.name = '$q' AND implicit")" Completed
echo '{"order": 100, "previous_order": 0, "sql": "SELECT 1"}' | put
publish
eventually 15 unfinished 1
explain run "$run"
implicit=$(printed "$tmp/explained" 1 | grep -oE "$id")
lockstep run cancel "$implicit" >/dev/null
ended "$run" Completed
ended "$implicit" Cancelled

situation 'a foreign run without an end'
echo "{\"run\": \"$(u 1)\", \"seq\": 0, \"order\": 1, \"previous_order\": 0, \"sql\": \"SELECT 1\"}" | put
eventually 15 is "SELECT count(*) FROM lockstep.task JOIN lockstep.run USING (run_no)
    WHERE run_id = '$(u 1)' AND task.status = 'Completed'" 1
publish
grep -q "run $(u 1), which began at offset 0, has not ended, and this run waits for it" "$tmp/notices" ||
    { cat "$tmp/notices"; failed=1; }
eventually 15 unfinished 1
explain queue "$q"
explain run "$run"
take "$tmp/explained" 1 "lockstep run end $(u 1)"
ended "$run" Completed
ended "$(u 1)" Failed
echo "{\"run\": \"$(u 1)\", \"seq\": 1, \"type\": \"end\", \"tasks\": 1, \"phases\": 1}" | put
eventually 15 is "SELECT reason || ': ' || detail FROM lockstep.rejected WHERE queue = '$q'" \
    "late: the run was ended by $(sql 'SELECT session_user'), before offset 3"
explain run "$(u 1)"
expect 'nothing that would be refused' "$(printed "$tmp/explained" 1), $(printed "$tmp/explained" 2)" \
    "lockstep run show $(u 1), lockstep rejected list --queue $q"

for way in 1 2; do
    situation 'lockstep publish was killed: it is resumed, or closed'
    seq 200 | sed 's/.*/{"order": 1, "sql": "SELECT &"}/' >"$tmp/killed.$way.jsonl"
    LOCKSTEP_PROBE=publish.record=sleep:110@2,publish.committed=kill "$LOCKSTEP_BIN-probed" publish -d "$db" \
        -b "$LOCKSTEP_TEST_BROKERS" -q --queue "$q" --run "$(u "4$way")" \
        --stream "$tmp/killed.$way.jsonl" >/dev/null 2>&1 || true
    eventually 15 is "SELECT tasks FROM lockstep.run WHERE run_id = '$(u "4$way")'" 64
    eventually 15 unfinished 0
    {
        echo "{\"run\": \"$(u "5$way")\", \"seq\": 0, \"order\": 1, \"previous_order\": 0, \"sql\": \"SELECT 1\"}"
        echo "{\"run\": \"$(u "5$way")\", \"seq\": 1, \"type\": \"end\", \"tasks\": 1, \"phases\": 1}"
    } | put
    eventually 15 unfinished 1
    explain run "$(u "4$way")"
    take "$tmp/explained" "$way" \
        "lockstep $([ "$way" = 1 ] && echo "publish --queue $q --resume" || echo 'run end') $(u "4$way")"
    ended "$(u "4$way")" "$([ "$way" = 1 ] && echo Completed || echo Failed)"
    ended "$(u "5$way")" Completed
done

situation 'a run whose beginning is lost: it is recorded as failed, the queue continues behind it'
task() { echo "{\"run\": \"$(u "$1")\", \"seq\": $2, \"order\": $3, \"previous_order\": $4, \"sql\": \"SELECT 1\"}"; }
end() { echo "{\"run\": \"$(u "$1")\", \"seq\": $2, \"type\": \"end\", \"tasks\": $2, \"phases\": 1}"; }
{ task 60 1 1 0; task 60 2 1 0; end 60 3; } | put
eventually 15 is "SELECT halted_reason FROM lockstep.queue WHERE queue.name = '$q'" unknown_run
publish
grep -q "queue $q is halted (unknown_run)" "$tmp/notices" || { cat "$tmp/notices"; failed=1; }
if lockstep replay --queue "$q" --from-offset earliest --to-offset latest --execute \
    --reason test >"$tmp/said" 2>&1; then
    failed=1
fi
take "$tmp/said" 1 "lockstep queue explain $q" # REMEDY_QUEUE_EXPLAIN
explain queue "$q"
take "$tmp/explained" 1 "lockstep queue resume $q --accept-topic"
ended "$run" Completed
ended "$(u 60)" Failed

situation 'messages are missing: there is nothing to retry, the work is published again'
{ task 70 0 1 0; task 70 2 1 0; end 70 3; } | put
ended "$(u 70)" Failed
explain run "$(u 70)"
grep -q 'Publish the work again as another run' "$tmp/explained" || { cat "$tmp/explained"; failed=1; }
! grep -q 'run retry' "$tmp/explained" || failed=1
{ task 71 0 1 0; task 71 1 1 0; end 71 2; } | put
ended "$(u 71)" Completed

situation 'a paused queue, a run that failed' # REMEDY_QUEUE_RESUME, from check
lockstep queue pause "$q" -q --reason 'look first'
publish
grep -q "queue $q is paused by .*: look first" "$tmp/notices" || { cat "$tmp/notices"; failed=1; }
lockstep check >"$tmp/check" 2>&1 || true
take <(grep -A1 "queue $q .*paused by" "$tmp/check") 1 "lockstep queue resume $q"
lockstep queue pause "$q" -q --reason 'look first'
take "$tmp/notices" 1 "lockstep queue resume $q"
ended "$run" Completed
sql 'CREATE SEQUENCE tried'
echo '{"order": 1, "sql": "SELECT 1 / (nextval('"'tried'"') - 1)"}' >"$tmp/one.jsonl"
publish
ended "$run" Failed
explain run "$run"
take "$tmp/explained" 1 "lockstep run retry $run"
ended "$run" Completed
explain run "$run"
expect 'nothing has to be done' "$(printed "$tmp/explained" 1)" ''

cases_end
exit $failed
