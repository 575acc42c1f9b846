#!/bin/bash
# Retention: what a queue does not keep goes in small batches beside live work, its sums stay, and nothing takes it up again; what is
# not over, is younger, failed, or is referred to stays.
# ctest: slow nosan timeout=180
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/shell.bash"
. "$here/ledger.bash"
tmp=$(mktemp -d)
trap 'jobs_end; scratch_drop; rm -rf "$tmp"' EXIT
scratch_database
ledger_create
queue() { lockstep queue create "$1" -q --create-topic "${@:2}"; }
task() { printf '{"order": %d, "sql": "%s"}\n' "$1" "$2"; }
put() { lockstep publish -q --queue "$1" --name "$2" -; }
kept() { sql "SELECT string_agg(r.name, ' ' ORDER BY r.run_no) FROM lockstep.run r JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$1' AND EXISTS (SELECT FROM lockstep.task t WHERE t.run_no = r.run_no)"; }
older() { sql "UPDATE lockstep.run SET ended_at = ended_at - $2 * interval '1 day' WHERE name = '$1'"; }
work() { executors 1 "$1" 2; executors_wait || failed=1; }
# sweep QUEUE: an executor that sweeps until a sweep that began later has ended
sweep() {
    local before
    before=$(sql 'SELECT clock_timestamp()')
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" -s executor.sweep_interval=200ms --queue "$1" --readers 1 "${@:2}" 2>>"$tmp/$1.log" &
    eventually 30 is "SELECT swept_at > '$before' FROM lockstep.queue WHERE name = '$1'" t || failed=1
    kill -TERM $!
    wait $! || failed=1
}
run_of() { sql "SELECT run_id FROM lockstep.run WHERE name = '$1'"; }

# By number and by age: a run stays as long as one of the settings keeps it; what did not complete stays longer.
q=$(scratch_name)
queue "$q" --on-failure continue
for n in one two three four; do { task 1 'SELECT 1'; task 2 'SELECT 2'; } | put "$q" "$n" >/dev/null; done
{ task 1 'SELECT 1/0'; task 2 'SELECT 2'; } | put "$q" broken >/dev/null
for n in five six; do task 1 'SELECT 1' | put "$q" "$n" >/dev/null; done
work "$q"
older one 10
older two 10
older broken 10
before=$(lockstep run list --queue "$q" -o csv)
shown=$(lockstep run show "$(run_of broken)" -o json | jq -c '.run | [.status, .tasks, .completed, .failed, .phases, .seconds]')
expect 'everything is kept' "$(lockstep queue show "$q" -o json | jq -r '.queue.kept')" everything
sweep_none() { expect "$1" "$(kept "$q")" 'one two three four broken five six'; }
lockstep queue set "$q" --keep-runs 7 -q
sweep "$q"
sweep_none 'as many as there are'
lockstep queue set "$q" --keep-runs none --keep-failed-days 30 -q
sweep "$q"
sweep_none 'only those that failed have a term'
lockstep queue set "$q" --keep-runs 2 --keep-days 5 -q
sweep "$q"
expect 'by age and number' "$(kept "$q")" 'three four broken five six'
lockstep queue set "$q" --keep-days none -q
sweep "$q"
expect 'by number' "$(kept "$q")" 'broken five six'
expect 'what is kept is told' "$(lockstep queue show "$q" -o json | jq -r '.queue | .kept, (.swept_at != null), .swept_detail' | tr '\n' '|')" \
    "the last 2 runs, failed ones of the last 30 days (set by lockstep_test)|true|$(sql "SELECT swept_detail FROM lockstep.queue WHERE name = '$q'")|"
lockstep queue set "$q" --keep-failed-days 7 -q
sweep "$q"
expect 'what failed goes later' "$(kept "$q")" 'five six'
expect 'sums' "$(lockstep run list --queue "$q" -o csv | cut -d, -f3-9)" "$(cut -d, -f3-9 <<<"$before")"
expect 'a run that is shown' "$(lockstep run show "$(run_of broken)" -o json | jq -c '.run | [.status, .tasks, .completed, .failed, .phases, .seconds]')" "$shown"
expect 'nothing else of it is left' "$(sql "SELECT (SELECT count(*) FROM lockstep.phase p JOIN lockstep.run r USING (run_no) WHERE r.name = 'broken'),
    (SELECT count(*) FROM lockstep.task_attempt), (SELECT count(*) FROM lockstep.event_log l JOIN lockstep.run r USING (run_no) WHERE r.name = 'broken'),
    (SELECT count(*) FROM lockstep.run_summary WHERE swept_at IS NOT NULL AND tasks > 0 AND busy > '0')")" '0|0|0|5'

# Nothing takes it up again: neither a retry nor a replay, whatever its mode.
said=$(lockstep run retry "$(run_of broken)" 2>&1) && { echo 'retried'; failed=1; }
grep -q 'were deleted: its queue does not keep them' <<<"$said" || { echo "retry: $said"; failed=1; }
for mode in missing failed all; do
    lockstep replay --queue "$q" --run "$(run_of one)" --mode $mode --execute --reason test -q >"$tmp/replay" 2>&1 || { cat "$tmp/replay"; failed=1; }
done
work "$q"
expect 'replays' "$(kept "$q")" 'five six'
lockstep replay --queue "$q" --run "$(run_of one)" --mode missing 2>&1 | grep -q 'does not keep it any longer' || { echo 'a replay does not say why'; failed=1; }

# What is not over stays, also with nothing to be kept: one that is paused, one that waits behind it. What others refer to is told of.
q=$(scratch_name)
queue "$q" --on-failure pause
task 1 'SELECT 1' | put "$q" referred >/dev/null
task 1 'SELECT 1' | put "$q" free >/dev/null
{ task 1 'SELECT 1/0'; task 2 'SELECT 1'; } | put "$q" paused >/dev/null
task 1 'SELECT 1' | put "$q" behind >/dev/null
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 1 2>"$tmp/$q.log" &
eventually 20 is "SELECT status FROM lockstep.run WHERE name = 'paused'" Paused || failed=1
kill -TERM $!
wait $! || failed=1
sql "CREATE TABLE theirs (task_id bigint REFERENCES lockstep.task); INSERT INTO theirs SELECT task_id FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.name = 'referred'"
lockstep queue set "$q" --keep-days 0 -q
sweep "$q"
expect 'what is not over, and what is referred to' "$(kept "$q" | tr ' ' '\n' | grep -v behind | tr '\n' ' ')" 'referred paused '
expect 'why' "$(sql "SELECT swept_detail ~ '1 kept by others: run .*theirs' FROM lockstep.queue WHERE name = '$q'")$(sql "SELECT swept FROM lockstep.run WHERE name = 'referred'")" tf
sql "DROP TABLE theirs; UPDATE lockstep.run_summary SET look_at = clock_timestamp()"
lockstep run resume "$(run_of paused)" -q >/dev/null
work "$q"
sweep "$q"
expect 'then they go' "$(kept "$q")" ''
expect 'with their counts' "$(sql "SELECT string_agg(status || tasks || completed || failed, ' ' ORDER BY run_no) FROM lockstep.run_status WHERE queue = '$q'")" \
    'Completed110 Completed110 PartiallyCompleted211 Completed110'

# Keys outlive their tasks; rejected messages go by age, but not before their dead letter is written.
q=$(scratch_name)
queue "$q"
keyed() { printf '{"order": 1, "key": "k", "sql": "SELECT 1"}\n'; }
keyed | put "$q" first >/dev/null
echo nonsense | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0
work "$q"
printf '[queue:%s]\nkeep_days = 0\n' "$q" >"$tmp/conf"
sql "UPDATE lockstep.run SET ended_at = ended_at - interval '1 s'"
sweep "$q" --config "$tmp/conf"
expect 'by the file' "$(kept "$q"),$(sql "SELECT keep_days, keep_set_by IS NULL FROM lockstep.queue WHERE name = '$q'")" ',0|t'
eventually 20 is "SELECT count(*) FROM lockstep.outbox o JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$q'" 0 || failed=1
sweep "$q"
expect 'rejected' "$(sql "SELECT count(*) FROM lockstep.rejected WHERE queue = '$q'")$(kcat -C -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q.rejected" -p 0 -o beginning -e -X isolation.level=read_committed -f '%s')" 0nonsense
lockstep queue set "$q" --keep-days none -q
sweep_started() { "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --config "$tmp/conf" --queue "$q" --until-idle 2>>"$tmp/$q.log"; }
keyed | put "$q" second >/dev/null
sweep_started || failed=1
expect 'what an operator says wins' "$(kept "$q"),$(sql "SELECT keep_days IS NULL FROM lockstep.queue WHERE name = '$q'")" 'second,t'
expect 'a key is still taken' "$(sql "SELECT t.status, t.skipped FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.name = 'second'")" 'Cancelled|duplicate'
for bad in -1 x 1.5 99999999999; do lockstep queue set "$q" --keep-runs "$bad" 2>/dev/null && { echo "keep-runs $bad"; failed=1; }; done

# Beside live work: the order holds, batches stay small, and an executor that is killed in the midst leaves nothing half-counted.
q=$(scratch_name)
queue "$q" --max-readers 4
old=$(scratch_name)
queue "$old"
for ((i = 0; i < 20000; i++)); do task $((i / 5000 + 1)) "SELECT $i"; done | put "$old" huge >/dev/null
executors 1 "$old" 4
executors_wait || failed=1
lockstep queue set "$old" --keep-days 0 -q
ledger_tasks "$q" 7 60 40 10 >"$tmp/live"
lockstep publish -q --queue "$q" "$tmp/live" >/dev/null
LOCKSTEP_PROBE=sweep.batch=kill@3 LOCKSTEP_PROBE_DIR=$tmp "${LOCKSTEP_BIN}-probed" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --queue "$old" --readers 2 2>"$tmp/$q.killed.log" &
status=0
wait $! || status=$?
expect 'killed in the midst' "$status" 137
expect 'half-way' "$(sql "SELECT s.tasks > 0 AND s.swept_at IS NULL AND s.tasks + (SELECT count(*) FROM lockstep.task t WHERE t.run_no = s.run_no) = 20000 FROM lockstep.run_summary s JOIN lockstep.run r USING (run_no) WHERE r.name = 'huge'")" t
for n in 1 2; do
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" -s log.level=debug -s executor.sweep_interval=200ms --queue "$q" --queue "$old" --readers 2 2>"$tmp/$q.$n.log" &
done
eventually 60 is "SELECT count(*) FROM lockstep.run_status WHERE queue = '$q' AND ended_at IS NULL" 0 || failed=1
eventually 60 is "SELECT s.tasks FROM lockstep.run_summary s JOIN lockstep.run r USING (run_no) WHERE r.name = 'huge' AND s.swept_at IS NOT NULL" 20000 || failed=1
for p in $(jobs -pr); do kill -TERM "$p"; done
wait
expect 'the counts' "$(sql "SELECT status, tasks, completed FROM lockstep.run_status WHERE queue = '$old'")" 'Completed|20000|20000'
expect 'batches' "$(cat "$tmp/$q".[12].log | grep -o 'event=sweep_batch .*rows=[0-9]*' | sed 's/.*rows=//' | sort -n | awk 'END { print (NR > 10 && $1 <= 1000) ? "small" : "of " $1 ", " NR " of them" }')" small
bad=$(ledger_check "$q" 4)
expect 'beside live work' "$bad" ''
[ $failed = 0 ] || grep -h -e level=warn -e level=error "$tmp"/*.log | grep -v -e executor_rights -e task_failed || true
exit $failed
