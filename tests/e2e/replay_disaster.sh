#!/bin/bash
# The database is lost, the topic is kept: a replay of everything makes the same runs, tasks, rejected messages and
# effects again.
# ctest: nosan timeout=180
. "$(dirname "$0")/../support/e2e.bash"
. "$here/replay.bash"
replay_create
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4
put() { kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0 "$@"; }
task() {
    printf '{"order": %d, "previous_order": %d%s, "sql": "SELECT maybe('\''%s'\'', %d, %d)"}\n' "$2" "$3" "${5:-}" \
        "$1" "$2" "$4"
}
publish() { tasks "$@" >"$tmp/work.jsonl"; lockstep publish --queue "$q" -q "$tmp/work.jsonl" >/dev/null; }

case_begin 'a queue runs, fails and rejects before its database is lost'
sql "INSERT INTO flaw VALUES (666)"
publish a 10:5 20:3 25:1 30:5 35:1 40:2 45:2 50:1 55:1 60:2 70:1
publish b 10:2 666:1 700:3
{
    task i 10 0 0; task i 10 0 1; task i 20 10 2; task i 30 20 3
    task i 90 50 99 # a hole
    task i 30 20 4
    echo 'no json at all'
    task j 10 0 0   # begins the next one
    task j 20 10 1
    echo '{"type": "end"}'
    task k 20 0 0   # one phase of the same order, kept apart by the end
} | sed 's/^/a key~/' | put -H what=header -K '~'
r=6f6b2a52-7f4f-4c55-9f2e-94c0b8d2a001
{
    task l 1 0 0 ", \"run\": \"$r\", \"seq\": 0"
    task l 1 0 1 ", \"run\": \"$r\", \"seq\": 1"
    task l 1 0 1 ", \"run\": \"$r\", \"seq\": 1" # a duplicate
    task l 2 1 2 ", \"run\": \"$r\", \"seq\": 2"
    printf '{"run": "%s", "seq": 3, "type": "end", "tasks": 3, "phases": 2}\n' "$r"
} | put
tasks m 10:4 20:4 >"$tmp/work.jsonl"
lockstep publish --queue "$q" -q --name 'the "monthly" one' --on-failure pause "$tmp/work.jsonl" >/dev/null
task n 10 0 0 | put # a run without an identity that is open at the end
executors 2 "$q" 4
executors_wait || failed=1

state() {
    sql "SELECT 'effect', q, ord, seq FROM ledger ORDER BY 2, 3, 4"
    sql "SELECT 'task', t.kafka_offset, r.run_id, t.\"order\", t.seq, t.status, t.payload
        FROM lockstep.task t JOIN lockstep.run r USING (run_no) ORDER BY 2"
    sql "SELECT 'rejected', m.kafka_offset, r.run_id, m.seq, m.reason, m.detail, m.raw, m.key, m.header_names,
             m.header_values
         FROM lockstep.rejected_message m LEFT JOIN lockstep.run r USING (run_no) ORDER BY 2"
    sql "SELECT 'run', r.run_id, r.name, r.on_failure, r.status, r.implicit, r.first_offset, r.end_offset, r.tasks,
             r.phases, r.rejected, r.next_seq, r.stop_after, r.aborted
         FROM lockstep.run r ORDER BY first_offset"
    sql "SELECT 'phase', r.run_id, p.\"order\", p.previous_order, p.opened_at IS NOT NULL, p.done_at IS NOT NULL
        FROM lockstep.phase p JOIN lockstep.run r USING (run_no) ORDER BY 2, 3"
    sql "SELECT 'open run', r.first_offset FROM lockstep.queue q JOIN lockstep.run r ON r.run_no = q.implicit_run_no"
}
state >"$tmp/before"
expect 'a name and a policy' "$(grep -c '^run.*|the "monthly" one|pause|Completed|' "$tmp/before")" 1
[ "$(grep -c ^effect "$tmp/before")" -eq 46 ] || { echo 'the load is not what it should be'; failed=1; }
end=$(sql "SELECT next_offset FROM lockstep.queue")

case_begin 'a replay into an empty database makes all again from the topic'
scratch_drop
scratch_database
replay_create
sql "INSERT INTO flaw VALUES (666)"
lockstep queue create "$q" -q --from-offset latest --max-readers 4
expect 'nothing is known' "$(sql "SELECT count(*) FROM lockstep.task"; sql "SELECT next_offset FROM lockstep.queue")" \
    "$(printf '0\n%s' "$end")"
lockstep replay --queue "$q" --from-offset earliest --to-offset latest --execute \
    --reason 'the database is lost' >/dev/null 2>"$tmp/said" &
replaying=$!
case_begin 'without executors a replay makes no more phases than may wait'
eventually 20 is "SELECT count(*) > 1 FROM lockstep.phase" t
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 4 2>"$tmp/one.log" &
one=$!
wait $replaying || { echo "the replay ended with $?"; cat "$tmp/said"; failed=1; }
kill -TERM $one
wait $one || failed=1
executors 2 "$q" 4
executors_wait || { cat "$tmp/$q".*.log; failed=1; }
state >"$tmp/after"
diff "$tmp/before" "$tmp/after" || { echo 'before (<) and after (>) differ'; failed=1; }
for tag in a b i j k l m n; do in_order $tag | grep . && failed=1; done

case_begin 'a second replay finds nothing to do'
lockstep replay --queue "$q" --from-offset earliest --to-offset latest -o jsonl 2>/dev/null >"$tmp/look"
expect 'nothing is missing' "$(jq -r .action "$tmp/look" | sort -u)" skip
lockstep replay --queue "$q" --from-offset earliest --to-offset latest --execute --reason 'twice' >/dev/null 2>&1 ||
    failed=1
executors 1 "$q" 4
executors_wait || failed=1
state >"$tmp/after"
diff "$tmp/before" "$tmp/after" || { echo 'a second replay did something'; failed=1; }

case_begin 'the open run continues with live messages'
task n 20 10 1 | put
task o 10 0 0 | put
executors 1 "$q" 4
executors_wait || failed=1
expect 'live work goes on where the replay ended' "$(effects n) $(effects o)" '1x2 1x1'
expect 'one run' \
    "$(sql "SELECT status, tasks FROM lockstep.run_status WHERE implicit ORDER BY run_no DESC OFFSET 1 LIMIT 1")" \
    'Completed|2'

case_begin 'a replay that was begun before the topic was accepted cannot continue, and says how to give it up'
again=(replay --queue "$q" --from-offset earliest --to-offset latest --mode all --execute --reason again)
LOCKSTEP_PROBE=replay.step=kill@1 "${LOCKSTEP_BIN}-probed" "${again[@]}" -d "$db" -b "$LOCKSTEP_TEST_BROKERS" \
    >/dev/null 2>&1 || true
id=$(sql "SELECT replay_id FROM lockstep.replay WHERE state = 'Running'")
sql "UPDATE lockstep.queue SET halted_reason = 'topic_deleted', halted_at = now() WHERE name = '$q'"
lockstep queue resume "$q" -q --accept-topic --from-offset earliest || failed=1
status=0
lockstep replay --queue "$q" --resume "$id" >/dev/null 2>"$tmp/said" || status=$?
expect 'its hint' "$status $(sed -n 's/.*hint: //p' "$tmp/said")" \
    "1 To give it up: lockstep replay --queue $q --abandon $id"
eval "$(grep -o 'lockstep replay --queue.*' "$tmp/said") -q" || failed=1
expect 'given up' "$(sql "SELECT state FROM lockstep.replay WHERE replay_id = $id")" Abandoned

case_begin 'the implicit run of an earlier topic is not taken for the one that has its offsets now'
run=$(sql 'SELECT run_id FROM lockstep.run WHERE implicit ORDER BY run_no LIMIT 1')
status=0
lockstep replay --queue "$q" --run "$run" --mode all >"$tmp/said" 2>&1 || status=$?
expect 'refused' "$status $(grep -c "run $run .*was read before the topic was accepted" "$tmp/said")" '2 1'
cases_end
exit $failed
