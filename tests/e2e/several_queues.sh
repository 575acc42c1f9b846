#!/bin/bash
# One executor on several busy queues: they share its readers, whether there are more readers or more queues, in strict order each;
# and what waits behind another queue's long tasks is left to other executors.
# ctest: timeout=120
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/shell.bash"
. "$here/ledger.bash"
tmp=$(mktemp -d)
trap 'jobs_end; scratch_drop; rm -rf "$tmp"' EXIT
scratch_database
ledger_create
failed=0

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
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" "${options[@]}" --readers 3 --until-idle 2>"$tmp/executor.log" || failed=1
    expect "$count queues: each begins before another one ends" "$(sql "SELECT max(s) < min(e) FROM (SELECT min(started) AS s, max(ended) AS e FROM ledger GROUP BY q) x")" t
    expect "$count queues: no reader idles where there is work" "$(sql "SELECT count(*) FROM (SELECT min(started) - max(max(ended)) OVER (ORDER BY min(started) ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS gap FROM ledger GROUP BY q, ord) x WHERE gap > '0.5 s'")" 0
    for q in "${queues[@]}"; do
        expect "$count queues: promises" "$(ledger_check "$q" 3)" ''
    done
    sql 'DELETE FROM lockstep.queue; TRUNCATE ledger'
done

# The one reader of the first executor has a long task of one queue. What the other queue gets runs on the second executor: the first
# neither claims it nor keeps what it has claimed.
sql "CREATE TABLE let_go (gone boolean); CREATE FUNCTION hold() RETURNS void LANGUAGE plpgsql AS \$\$
     BEGIN
         WHILE NOT EXISTS (SELECT FROM let_go) LOOP PERFORM pg_sleep(0.01); END LOOP;
     END \$\$"
long=$(scratch_name)
lockstep queue create "$long" -q --create-topic --max-readers 1
busy 1
held=$(lockstep publish --queue "$long" -q - <<<'{"order": 1, "sql": "SELECT hold()"}')
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$long" --queue "$q" --readers 1 2>"$tmp/first.log" &
eventually 10 is "SELECT status FROM lockstep.run_status WHERE run_id = '$held'" Running
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 3 2>"$tmp/second.log" &
eventually 10 is "SELECT status FROM lockstep.run_status WHERE queue = '$q'" Completed
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
eventually 10 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Completed
expect 'the long task still runs' "$(sql "SELECT completed FROM lockstep.run_status WHERE run_id = '$held'")" 0
sql "INSERT INTO let_go VALUES (true)"
eventually 10 is "SELECT status FROM lockstep.run_status WHERE run_id = '$held'" Completed
[ $failed = 0 ] || tail -40 "$tmp"/*.log
exit $failed
