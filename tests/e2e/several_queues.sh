#!/bin/bash
# One executor on several busy queues: they share its readers, whether there are more readers or more queues, each in
# strict order. Work that waits behind another queue's long tasks, or at an executor without readers, is left to other
# executors.
# ctest: timeout=120 long
. "$(dirname "$0")/../support/e2e.bash"
ledger_create

# busy COUNT: queues with work for a second of one reader each, in $queues, and their options in $options
busy() {
    queues=() options=()
    for ((i = 0; i < $1; i++)); do
        q=$(scratch_name)
        lockstep queue create "$q" -q --create-topic --max-readers 3
        for ((n = 0; n < 100; n++)); do
            echo "{\"order\": $((n / 25 + 1)), \"sql\": \"SELECT work('$q', $((n / 25 + 1)), $n, 0.01)\"}"
        done >"$tmp/tasks.jsonl"
        lockstep publish --queue "$q" -q "$tmp/tasks.jsonl" >/dev/null
        queues+=("$q")
        options+=(--queue "$q")
    done
}

for count in 2 5; do
    busy $count
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" "${options[@]}" --readers 3 \
        --until-idle 2>"$tmp/executor.log" || failed=1
    expect "$count queues: each begins before another one ends" \
        "$(sql "SELECT max(s) < min(e) FROM (SELECT min(started) AS s, max(ended) AS e FROM ledger GROUP BY q) x")" t
    expect "$count queues: no reader idles where there is work" "$(sql "SELECT count(*) FROM (SELECT min(started)
        - max(max(ended)) OVER (ORDER BY min(started) ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS gap
        FROM ledger GROUP BY q, ord) x
        WHERE gap > '0.5 s'")" 0
    expect "$count queues: all readers work" \
        "$(sql "WITH e AS (SELECT started AS at, 1 AS d FROM ledger UNION ALL SELECT ended, -1 FROM ledger)
        SELECT max(running) FROM (SELECT sum(d) OVER (ORDER BY at, d ROWS UNBOUNDED PRECEDING) AS running FROM e) x")" 3
    for q in "${queues[@]}"; do
        expect "$count queues: promises" "$(ledger_check "$q" 3)" ''
    done
    sql 'DELETE FROM lockstep.queue; TRUNCATE ledger'
done

case_begin 'the work of a second queue runs elsewhere while the one reader has a long task'
# The one reader of the first executor gets a long task of one queue, before or after it has begun with another one.
# The other queue's tasks run on the second executor: the first neither claims them, nor keeps claimed ones, nor
# is in the way of its phases.
sql <<'SQL'
CREATE TABLE let_go (gone boolean); CREATE FUNCTION hold() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WHILE NOT EXISTS (SELECT FROM let_go) LOOP PERFORM pg_sleep(0.01); END LOOP;
END $$
SQL
for first in long short; do
    sql 'TRUNCATE let_go'
    long=$(scratch_name)
    lockstep queue create "$long" -q --create-topic --max-readers 1
    busy 1
    [ $first = short ] || held=$(lockstep publish --queue "$long" -q - <<<'{"order": 1, "sql": "SELECT hold()"}')
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$long" --queue "$q" --readers 1 \
        2>"$tmp/first.log" &
    if [ $first = short ]; then
        eventually 10 is "SELECT count(*) > 3 FROM ledger WHERE q = '$q'" t
        held=$(lockstep publish --queue "$long" -q - <<<'{"order": 1, "sql": "SELECT hold()"}')
    fi
    eventually 10 is "SELECT processing FROM lockstep.run_status WHERE run_id = '$held'" 1
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 3 2>"$tmp/second.log" &
    eventually 10 is "SELECT status FROM lockstep.run_status WHERE queue = '$q'" Completed
    run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
    eventually 10 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Completed
    expect "$first first: the long task still runs" \
        "$(sql "SELECT completed FROM lockstep.run_status WHERE run_id = '$held'")" 0
    sql "INSERT INTO let_go VALUES (true)"
    eventually 10 is "SELECT status FROM lockstep.run_status WHERE run_id = '$held'" Completed
    mapfile -t executors < <(jobs -pr)
    kill -TERM "${executors[@]}"
    wait
    sql 'DELETE FROM lockstep.queue; TRUNCATE ledger'
done
case_begin 'an executor without readers claims nothing'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic
for ((n = 0; n < 300; n++)); do echo '{"order": 1, "sql": "SELECT 1"}'; done >"$tmp/tasks.jsonl"
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 1 2>"$tmp/none.log" &
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
eventually 10 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Completed
lockstep executor set "$(sql 'SELECT executor_id FROM lockstep.executor WHERE ended_at IS NULL')" -q --readers 0
eventually 10 grep -q event=readers_set "$tmp/none.log"
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
executors 1 "$q" 1
executors_wait || failed=1
expect 'another one has done it' "$(sql "SELECT status FROM lockstep.run_status WHERE run_id = '$run'")" Completed
expect 'it claimed nothing' "$(grep -c event=tasks_returned "$tmp/none.log")" 0
cases_end
[ $failed = 0 ] || tail -40 "$tmp"/*.log
exit $failed
