#!/bin/bash
# More readers than a claim has tasks for: short tasks are claimed without a pause. More than 64: each gets a slot, and
# returns it.
# ctest: timeout=180
. "$(dirname "$0")/../support/e2e.bash"
ledger_create
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 40 >/dev/null
{ # phases of one task: it is alone, and short, so many are wanted ahead when the large phase comes
    task='{"order": %d, "sql": "INSERT INTO ledger VALUES ('"'%s'"', %d, %d, clock_timestamp(), clock_timestamp())"}\n'
    # shellcheck disable=SC2059 # the format is in $task
    for p in {1..80}; do printf "$task" "$p" "$q" "$p" $((p - 1)); done
    # shellcheck disable=SC2059
    for n in {80..2079}; do printf "$task" 81 "$q" 81 "$n"; done
} >"$tmp/work.jsonl"
case_begin 'forty readers, more than one claim has tasks for, run a large phase of short tasks'
run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
executors 1 "$q" 40
eventually 30 run_is "$run" Completed || {
    sql "SELECT 'claimed ' || tasks || ' in ' || phases || ' phases' FROM lockstep.run WHERE run_id = '$run'"
    lockstep queue explain "$q"
    exit 1
}
executors_wait || { cat "$tmp/$q".*.log; failed=1; }
expect 'each once, in order' "$(ledger_check "$q" 40)" ''

q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 80 >/dev/null
sql 'CREATE TABLE shut (n int); CREATE TABLE let_go (n int)'
for n in {1..80}; do echo '{"order": 1, "sql": "SELECT FROM shut"}'; done >"$tmp/eighty.jsonl"
slots='SELECT count(*) FROM lockstep.slot WHERE executor_no IS NOT NULL'
shut() {
    [ "$(sql "SELECT count(*) FROM pg_locks
        WHERE relation = 'shut'::regclass AND mode = 'AccessExclusiveLock' AND granted AND $own_locks")" = "$1" ]
}
done_are() {
    [ "$(sql "SELECT count(*) FROM lockstep.task t JOIN lockstep.run r USING (run_no)
        WHERE r.run_id = '$1' AND t.status = 'Completed'")" = "$2" ]
}
# eighty END: 80 tasks end while control is held, which then has END sent to its process, and sees all of them at once
eighty() {
    sql 'TRUNCATE let_go'
    rm -f "$tmp"/record.take.*
    sql 'BEGIN;
        LOCK shut;
        DO $$BEGIN WHILE NOT EXISTS (SELECT FROM let_go) LOOP PERFORM pg_sleep(0.02); END LOOP; END$$; COMMIT' &
    eventually 10 shut 1
    (
        ulimit -Sn 256 # the executor raises it
        export LOCKSTEP_PROBE=record.take=hold LOCKSTEP_PROBE_DIR=$tmp
        exec "$LOCKSTEP_BIN-probed" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 80 \
            2>"$tmp/eighty.log"
    ) &
    executor=$!
    run=$(lockstep publish --queue "$q" -q "$tmp/eighty.jsonl")
    eventually 30 is "$slots" 80 || failed=1
    sql 'INSERT INTO let_go VALUES (1)'
    eventually 30 done_are "$run" 80 || failed=1
    [ "$1" = none ] || kill "-$1" "$executor"
    touch "$tmp/record.take.go"
}
case_begin 'eighty readers have a slot each, and return all of them when they fall idle together'
eighty none
eventually 10 is "$slots" 0 || wrong "readers that are idle have $(sql "$slots") slots"
case_begin 'an executor that ends returns all its slots'
kill -TERM "$executor"
wait "$executor" || failed=1
eighty TERM
wait "$executor" || failed=1
expect 'slots of an executor that has ended' "$(sql "$slots")" 0
case_begin 'readers for which the process may not open enough files are refused'
rc=0
(ulimit -n 256 && exec "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 80) \
    2>"$tmp/few.log" || rc=$?
expect 'too few files' "$rc" 2
grep -q '80 readers need .* open files, and the process may open 256' "$tmp/few.log" ||
    { cat "$tmp/few.log"; failed=1; }
cases_end
exit $failed
