#!/bin/bash
# Retention: rows that a queue does not keep are deleted in small batches while it works, its sums stay, and no executor
# adopts the rows again. Rows that are not over, are younger, failed, or are referred to stay. tests/sql/retention.sql
# has row by row when a run is deleted.
# ctest: timeout=180 long notsan
. "$(dirname "$0")/../support/e2e.bash"
ledger_create
queue() { lockstep queue create "$1" -q --create-topic "${@:2}"; }
task() { printf '{"order": %d, "sql": "%s"}\n' "$1" "$2"; }
put() { lockstep publish -q --queue "$1" --name "$2" -; }
run_of() { sql "SELECT run_id FROM lockstep.run WHERE name = '$1'"; }
kept="SELECT coalesce(string_agg(r.name, ' ' ORDER BY r.run_no), '') FROM lockstep.run r
    WHERE EXISTS (SELECT FROM lockstep.task t WHERE t.run_no = r.run_no)
      AND r.queue_id = (SELECT queue_id FROM lockstep.queue WHERE name = "
older() {
    sql "UPDATE lockstep.run
        SET ended_at = ended_at - $2 * interval '1 day', created_at = created_at - $2 * interval '1 day'
        WHERE name = ANY ('{$1}')"
}
work() { executors 1 "$1" 2; executors_wait || failed=1; }
probed() {
    LOCKSTEP_PROBE=$1 LOCKSTEP_PROBE_DIR=$tmp "${LOCKSTEP_BIN}-probed" executor run -d "$db" \
        -b "$LOCKSTEP_TEST_BROKERS" -s executor.sweep_interval=200ms "${@:2}"
}
# sweeper QUEUE ARGS...: an executor in the background that sweeps often
sweeper() {
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" -s executor.sweep_interval=200ms \
        -s log.level=debug --readers 2 --queue "$@" 2>>"$tmp/$1.log" &
}
leave() { kill -TERM "$1"; wait "$1" || { echo "an executor ended with $?"; failed=1; }; }
# sweep QUEUE ARGS...: until a sweep that began later has ended
sweep() {
    local before
    before=$(sql 'SELECT clock_timestamp()')
    sweeper "$@"
    eventually 30 is "SELECT count(*) FROM lockstep.retention t JOIN lockstep.queue q USING (queue_id)
        WHERE q.name = '$1' AND t.swept_at > '$before'" 1 || failed=1
    leave $!
}

case_begin 'runs go by number and by age, and those that did not complete stay longer'
q=$(scratch_name)
queue "$q" --on-failure continue --keep-runs 6
for n in one two; do { task 1 'SELECT 1'; task 2 'SELECT 2'; } | put "$q" "$n" >/dev/null; done
{ task 1 'SELECT 1/0'; task 2 'SELECT 2'; } | put "$q" broken >/dev/null
for n in five six; do task 1 'SELECT 1' | put "$q" "$n" >/dev/null; done
work "$q"
older one,two,broken 10
before=$(lockstep run list --queue "$q" -o csv)
facts() {
    lockstep run show "$(run_of broken)" -o json |
        jq -c '.run | [.status, .tasks, .completed, .failed, .phases, .seconds]'
}
shown=$(facts)
sweep "$q"
expect 'as many as there are' "$(sql "$kept'$q')")" 'one two broken five six'
lockstep queue set "$q" --keep-runs 1 --keep-days 5 --keep-failed-days 30 -q
sweep "$q"
expect 'by age and number' "$(sql "$kept'$q')")" 'broken five six'
expect 'what is kept is told' \
    "$(lockstep queue show "$q" -o json | jq -r '.queue | .kept, (.swept_at != null), .swept_detail' | tr '\n' '|')" \
    "runs: the newest 1, days: 5, days of what did not complete: 30 (set by lockstep_test)|true|$(sql "SELECT detail
        FROM lockstep.retention")|"
lockstep queue set "$q" --keep-failed-days 7 -q
sweep "$q"
expect 'what failed goes later' "$(sql "$kept'$q')")" 'five six'
expect 'sums' "$(lockstep run list --queue "$q" -o csv | cut -d, -f3-9)" "$(cut -d, -f3-9 <<<"$before")"
expect 'a run that is shown' "$(facts)" "$shown"
expect 'and when it was deleted' \
    "$(lockstep run show "$(run_of broken)" -o json | jq -c '.run | [.swept, (.swept_at != null)]')" '[true,true]'
left=$(
    sql <<'SQL'
SELECT (SELECT count(*) FROM lockstep.phase p JOIN lockstep.run r USING (run_no) WHERE r.swept),
       (SELECT count(*) FROM lockstep.task_attempt),
       (SELECT count(*) FROM lockstep.event_log l JOIN lockstep.run r USING (run_no) WHERE r.swept),
       (SELECT count(*) FROM lockstep.run_summary WHERE swept_at IS NOT NULL AND tasks > 0 AND busy > '0')
SQL
)
expect 'nothing else of it is left' "$left" '0|0|0|3'
refusal='were deleted: its queue does not keep them any longer'
said=$(lockstep run retry "$(run_of broken)" 2>&1) && { echo 'retried'; failed=1; }
grep -q "$refusal" <<<"$said" || { echo "retry: $said"; failed=1; }
said=$(lockstep run retry --status PartiallyCompleted --queue "$q" 2>&1) || true
expect 'it is not among those that can be' \
    "$(grep -c "$refusal" <<<"$said")$(sql "SELECT count(*) FROM lockstep.run WHERE ended_at IS NULL")" 00
for mode in missing failed all; do
    lockstep replay --queue "$q" --run "$(run_of one)" --mode $mode --execute --reason test -o jsonl >"$tmp/replay" \
        2>"$tmp/said" || { cat "$tmp/said"; failed=1; }
    expect "a replay of $mode" "$(jq -sc 'map({action, why}) | unique' "$tmp/replay")" \
        '[{"action":"skip","why":"retention"}]'
done

case_begin 'bad settings are refused, and an operator overrides the file until the setting is removed'
for bad in --keep-runs={-1,0,x,1.5,1000001,99999999999999999999} --keep-days={0,36501,-5,1d} --keep-failed-days=0; do
    said=$(lockstep queue set "$q" "$bad" 2>&1) && { echo "$bad is taken"; failed=1; }
    grep -q "^lockstep: queue set: ${bad%=*} must be .*, not \"\?${bad#*=}" <<<"$said" ||
        { echo "$bad: $said"; failed=1; }
done
lockstep queue set "$q" --keep-runs 5 --keep-from-file 2>/dev/null && { echo 'both are taken'; failed=1; }
lockstep queue create "$(scratch_name)" --keep-days 0 2>/dev/null && { echo 'create takes 0'; failed=1; }
printf '[queue:%s]\nkeep_days = 5\nkeep_failed_days = 0\n' "$q" >"$tmp/bad"
said=$(lockstep executor run --queue "$q" --until-idle --config "$tmp/bad" 2>&1) &&
    { echo 'the file is taken'; failed=1; }
grep -q ':3: .*keep_failed_days' <<<"$said" || { echo "file: $said"; failed=1; }
printf '[queue:%s]\nkeep_days = 1\n' "$q" >"$tmp/conf"
rules="SELECT concat_ws(' ', keep_runs, keep_days, keep_failed_days, keep_set_by IS NULL) FROM lockstep.queue
    WHERE name = '$q'"
lockstep queue set "$q" --keep-days none --keep-failed-days none -q
sweep "$q" --config "$tmp/conf"
expect 'what an operator says wins' "$(sql "$rules")" '1 f'
lockstep queue set "$q" --keep-from-file -q
older five 2
sweep "$q" --config "$tmp/conf"
expect 'by the file' "$(sql "$rules"), $(sql "$kept'$q')")" '1 t, six'

case_begin 'unfinished runs stay, and a row with foreign references is reported once'
q=$(scratch_name)
queue "$q" --on-failure pause
for n in referred free; do task 1 'SELECT 1' | put "$q" "$n" >/dev/null; done
{ task 1 'SELECT 1/0'; task 2 'SELECT 1'; } | put "$q" paused >/dev/null
task 1 'SELECT 1' | put "$q" behind >/dev/null
sweeper "$q"
eventually 20 is "SELECT status FROM lockstep.run WHERE name = 'paused'" Paused || failed=1
sql "CREATE TABLE theirs (task_id bigint REFERENCES lockstep.task);
    INSERT INTO theirs SELECT task_id FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.name = 'referred'"
older referred,free,paused,behind 10
lockstep queue set "$q" --keep-days 1 -q # the executor that runs is notified
eventually 20 is "$kept'$q') AND r.name <> 'behind'" 'referred paused' || failed=1
held="SELECT count(*) FROM lockstep.retention WHERE detail ~ '1 held up: run .*theirs'"
eventually 20 is "$held" 1 || failed=1
sql "UPDATE lockstep.run_summary SET look_at = clock_timestamp()"
eventually 20 is "SELECT count(*) FROM lockstep.run_summary WHERE look_at > clock_timestamp()" 1 || failed=1
expect 'why' "$(lockstep queue show "$q" -o json | jq -r .queue.swept_detail |
    grep -c '1 held up: run .*theirs')$(grep -c event=sweep_held "$tmp/$q.log")" 11
sql "DROP TABLE theirs; UPDATE lockstep.run_summary SET look_at = clock_timestamp()"
lockstep run resume "$(run_of paused)" -q >/dev/null
eventually 20 is "SELECT count(*) FROM lockstep.run WHERE name = 'behind' AND ended_at IS NOT NULL" 1 || failed=1
older paused,behind 10
eventually 20 is "$kept'$q')" '' || failed=1
leave $!
expect 'with their counts' "$(sql "SELECT string_agg(status || tasks || completed || failed, ' ' ORDER BY run_no)
    FROM lockstep.run_status WHERE queue = '$q'")" \
    'Completed110 Completed110 PartiallyCompleted211 Completed110'

case_begin 'keys outlive their tasks, and rejected messages and events stay until they are sent'
# Keys outlive tasks that were done; rejected messages go by age, but not before their dead letter is written; events
# not before they are sent, and they have the state of then.
q=$(scratch_name)
queue "$q" --events on --keep-days 1 --on-failure continue
keyed() {
    printf '{"order": 1, "key": "done", "sql": "SELECT 1"}\n{"order": 1, "key": "not", "sql": "SELECT 1%s"}\n' "$1"
}
keyed /0 | put "$q" first >/dev/null
work "$q"
echo nonsense | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0
work "$q"
older first 10
sql "UPDATE lockstep.rejected_message SET rejected_at = rejected_at - interval '2 days'"
sweeper "$q"
eventually 20 is "$kept'$q') UNION ALL SELECT 'message' FROM lockstep.rejected WHERE queue = '$q'" '' || failed=1
leave $!
committed() { # TOPIC [OPTION]...: its records
    kcat -C -q -b "$LOCKSTEP_TEST_BROKERS" -t "$1" -p 0 -o beginning -e -X isolation.level=read_committed "${@:2}"
}
ended=$(committed "$q.events" | jq -r 'select(.event == "run_ended") | .tasks | "\(.total) \(.failed)"')
expect 'events and dead letters' "$ended$(committed "$q.rejected" -f ' %s')" '2 1 nonsense'
keyed '' | put "$q" second >/dev/null
work "$q"
expect 'a key of what was done is taken' \
    "$(sql "SELECT string_agg(concat_ws(' ', t.key, t.status, t.skipped), ', ' ORDER BY t.seq)
        FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.name = 'second'")" \
    'done Cancelled duplicate, not Completed'
expect 'a replay of the lot' "$(lockstep replay --queue "$q" --from-offset earliest --to-offset latest \
    -o jsonl 2>/dev/null | jq -r 'select(.action != "skip")')" ''

# stays_open FILE SQL [END]: a transaction whose answers go to FILE, and which stays open until there is $tmp/tried.
# Then END, or it is undone.
stays_open() {
    {
        echo "BEGIN; $2"
        eventually 60 test -e "$tmp/tried"
        echo "${3:-ROLLBACK;}" # a session that only ends lets go a moment after its client
    } | "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$db" >"$1" &
}

case_begin 'of a retry and a sweep of one run the first wins, and the other one does nothing'
q=$(scratch_name)
queue "$q" --on-failure continue
for n in retried swept; do
    { for ((i = 0; i < 120; i++)); do task 1 'SELECT 1'; done; task 2 'SELECT 1/0'; } | put "$q" "$n" >/dev/null
done
work "$q"
older retried,swept 10
sql "UPDATE lockstep.queue SET keep_days = 1 WHERE name = '$q'"
id=$(sql "SELECT queue_id FROM lockstep.queue WHERE name = '$q'")
stays_open "$tmp/retry" "SELECT phases FROM lockstep.run_retry('$(run_of retried)');" 'COMMIT;'
eventually 10 grep -qs . "$tmp/retry" || failed=1
expect 'a sweep beside a retry' "$(sql "SET lock_timeout = '1s';
    SELECT deleted, at = (SELECT run_no FROM lockstep.run WHERE name = 'swept') FROM lockstep.sweep($id, 50, -1)")" \
    '50|t'
touch "$tmp/tried"
wait $!
rm "$tmp/tried"
expect 'the retry' "$(cat "$tmp/retry"), $(sql "SELECT string_agg(name || ' ' || status, ', ' ORDER BY name)
    FROM lockstep.run WHERE name IN ('retried', 'swept')")" '1, retried Running, swept PartiallyCompleted'
case_begin 'a locked task is left for a later sweep, and its run with it'
stays_open "$tmp/locked" "SELECT task_id FROM lockstep.task t JOIN lockstep.run r USING (run_no)
    WHERE r.name = 'swept' ORDER BY 1 LIMIT 1 FOR KEY SHARE OF t;"
eventually 10 grep -qs . "$tmp/locked" || failed=1
left="SELECT concat_ws(' ', count(t.task_id), s.held, s.swept_at IS NOT NULL)
    FROM lockstep.run r JOIN lockstep.run_summary s USING (run_no) LEFT JOIN lockstep.task t USING (run_no)
    WHERE r.name = 'swept' GROUP BY r.run_no, s.run_no"
expect 'beside who has a task locked' \
    "$(sql "SET lock_timeout = '1s'; SELECT count(*) FROM lockstep.sweep($id, 1000, -1); $left")" "1
1 its tasks are locked by another session f"
touch "$tmp/tried"
wait $!
rm "$tmp/tried"
expect 'and later' "$(sql "UPDATE lockstep.run_summary SET look_at = clock_timestamp() WHERE held IS NOT NULL;
    SELECT deleted > 1 FROM lockstep.sweep($id, 1000, -1);
    $left")" 't
0 t'
sql "UPDATE lockstep.task SET status = 'Failed' WHERE status = 'Pending';
    SELECT lockstep.run_finish(run_no) FROM lockstep.run WHERE name = 'retried'" >/dev/null
older retried 10
stays_open "$tmp/swept" "SELECT at = run_no FROM lockstep.run, lockstep.sweep($id, 50, -1) WHERE name = 'retried';" \
    'COMMIT;'
eventually 10 grep -qs t "$tmp/swept" || failed=1
lockstep run retry "$(run_of retried)" >"$tmp/retry" 2>&1 &
eventually 10 is \
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'" 1 ||
    failed=1
touch "$tmp/tried"
wait $! && { echo 'it was retried'; failed=1; }
grep -q "$refusal" "$tmp/retry" || { cat "$tmp/retry"; failed=1; }

case_begin 'a replay that meets a sweep judges the run again'
rm "$tmp/tried" "$tmp/swept"
{ for ((i = 0; i < 60; i++)); do task 1 'SELECT 1'; done; task 2 'SELECT 1/0'; } | put "$q" replayed >/dev/null
lockstep queue set "$q" --keep-days none -q
work "$q"
older replayed 10
sql "UPDATE lockstep.run_summary SET look_at = 'infinity' WHERE swept_at IS NULL;
    UPDATE lockstep.queue SET keep_days = 1 WHERE queue_id = $id"
stays_open "$tmp/swept" "SELECT at = run_no FROM lockstep.run, lockstep.sweep($id, 50, -1) WHERE name = 'replayed';" \
    'COMMIT;'
eventually 10 grep -qs t "$tmp/swept" || failed=1
lockstep replay --queue "$q" --run "$(run_of replayed)" --mode failed --execute --reason test -o jsonl >"$tmp/replay" \
    2>"$tmp/said" &
eventually 10 is \
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'" 1 ||
    failed=1
touch "$tmp/tried"
wait $! || { cat "$tmp/said"; failed=1; }
expect 'a replay that meets a sweep' "$(jq -r 'select(.why != "failed" or .action != "reopen") | "\(.action) \(.why)"' \
    "$tmp/replay" | sort -u | paste -sd,)" 'skip done,skip retention'

case_begin 'during live work a sweep keeps the order, in small batches, and a killed sweep leaves nothing half counted'
# During live work: the order holds, batches stay small, one executor at a time; a sweep that is killed leaves
# nothing half counted, and an operator finds only rows that are over.
old=$(scratch_name) q=$(scratch_name)
queue "$q" --max-readers 4
queue "$old"
for ((i = 0; i < 10000; i++)); do task $((i / 3000 + 1)) "SELECT $i"; done | put "$old" huge >/dev/null
executors 1 "$old" 4
executors_wait || failed=1
older huge 10
lockstep queue set "$old" --keep-days 1 -q
ledger_tasks "$q" 7 60 40 10 >"$tmp/live"
lockstep publish -q --queue "$q" "$tmp/live" >/dev/null
status=0
probed sweep.batch=kill@3 --queue "$q" --queue "$old" --readers 2 2>"$tmp/$q.killed.log" || status=$?
expect 'killed in the midst' "$status" 137
expect 'half-way' "$(sql "SELECT s.tasks > 0 AND s.swept_at IS NULL
      AND s.tasks + (SELECT count(*) FROM lockstep.task t WHERE t.run_no = s.run_no) = 10000
    FROM lockstep.run_summary s JOIN lockstep.run r USING (run_no) WHERE r.name = 'huge'")" t
expect 'a run that is being deleted' \
    "$(lockstep run show "$(run_of huge)" -o json | jq -c '.run | [.tasks, .completed, .swept, .swept_at]')" \
    '[10000,10000,true,null]'
last=$(sql "SELECT max(task_id) FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.name = 'huge'")
said=$(lockstep task retry "$last" 2>&1) && { echo 'its task is retried'; failed=1; }
grep -q 'it is being deleted' <<<"$said" || { echo "task retry: $said"; failed=1; }
for n in 1 2; do
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" -s log.level=debug \
        -s executor.sweep_interval=200ms --queue "$q" --queue "$old" --readers 2 2>"$tmp/$q.$n.log" &
done
eventually 20 is "SELECT count(pg_terminate_backend(pid)) > 0 FROM pg_stat_activity
    WHERE application_name = 'lockstep/retention' AND datname = current_database()" t || failed=1
eventually 20 grep -q event=sweep_failed "$tmp/$q.1.log" "$tmp/$q.2.log" || failed=1 # and continues
eventually 60 is "SELECT count(*) FROM lockstep.run_status WHERE queue = '$q' AND ended_at IS NULL" 0 || failed=1
eventually 60 is "SELECT s.tasks FROM lockstep.run_summary s JOIN lockstep.run r USING (run_no)
    WHERE r.name = 'huge' AND s.swept_at IS NOT NULL" 10000 || failed=1
for p in $(jobs -pr); do leave "$p"; done
expect 'the counts' "$(sql "SELECT status, tasks, completed FROM lockstep.run_status WHERE queue = '$old'")" \
    'Completed|10000|10000'
expect 'batches' "$(cat "$tmp/$q".[12].log | grep -o 'event=sweep_batch .*rows=[0-9]*' | sed 's/.*rows=//' | sort -n |
    awk 'END { print (NR > 5 && $1 <= 1000) ? "small" : "of " $1 ", " NR " of them" }')" small
bad=$(ledger_check "$q" 4)
expect 'beside live work' "$bad" ''

case_begin 'in an empty database a replay makes again what retention had deleted'
q=$(scratch_name)
queue "$q" --keep-days 1
task 1 "SELECT work('$q', 1, 0, 0)" | put "$q" past >/dev/null
work "$q"
older past 10
sweep "$q"
expect 'gone' "$(sql "$kept'$q')")$(sql "SELECT count(*) FROM ledger WHERE q = '$q'")" 1
scratch_drop
scratch_database
ledger_create
queue "$q" --from-end
work "$q"
lockstep replay --queue "$q" --from-offset earliest --to-offset latest --execute --reason 'database lost' \
    -q >"$tmp/replay" 2>&1 || { cat "$tmp/replay"; failed=1; }
work "$q"
expect 'it runs again' "$(sql "SELECT status FROM lockstep.run")$(sql "SELECT count(*) FROM ledger WHERE q = '$q'")" \
    Completed1
cases_end
[ $failed = 0 ] || grep -h -A 30 -e level=warn -e level=error -e Sanitizer "$tmp"/*.log |
    grep -v -e executor_rights -e task_failed -e level=debug -e level=info || true
exit $failed
