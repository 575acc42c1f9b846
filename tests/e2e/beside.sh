#!/bin/bash
# While the server has not answered a claim, readers that have finished continue with tasks that the executor has in
# hand.
# ctest: timeout=120 long notsan
. "$(dirname "$0")/../support/e2e.bash"
ledger_create
fail() { # with the executor's log
    printf '%s\n' "$@"
    cat "$tmp/$q".*.log
    exit 1
}
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 1 >/dev/null
for n in {0..1999}; do echo "{\"order\": 1, \"sql\": \"SELECT work('$q', 1, $n, 0.001)\"}"; done >"$tmp/work.jsonl"
run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
executors 1 "$q" 1
fifty() { [ "$(sql "SELECT count(*) FROM lockstep.task WHERE status = 'Completed'")" -ge 50 ]; }
eventually 20 fifty || fail 'no task is completed'

case_begin 'a claim waits for the row of its queue'
session_open BEGIN "SELECT FROM lockstep.queue WHERE name = '$q' FOR UPDATE"
waits="SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lockstep/control' AND wait_event_type = 'Lock'
       AND datname = current_database()"
eventually 20 is "$waits" 1 || fail 'no claim waits'
# The server ends the wait of a claim after 2 s (lock_timeout): readers that wait for it start most tasks behind that.
began=$(sql "SELECT min(query_start) ${waits#*count(\*)}")
case_begin 'meanwhile the executor does all that it has in hand'
eventually 20 is "SELECT count(*) FROM lockstep.task WHERE status <> 'Completed'" 0 || fail 'readers wait for the claim'
expect 'most of it starts while the first claim waits' "$(sql "SELECT count(*) FILTER (WHERE waits) > count(*) / 2
    FROM (SELECT started_at < timestamptz '$began' + interval '2 s' AS waits
          FROM lockstep.task WHERE started_at > '$began') t")" t
eventually 20 is "$waits" 1 || fail 'the claim does not wait any more' # also one that was tried again
session_close

case_begin 'when the row is free the executor claims again'
executors_wait || fail 'the executor failed'
expect 'ended' "$(sql "SELECT status FROM lockstep.run WHERE run_id = '$run'")" Completed
expect 'each once, within the bound' "$(ledger_check "$q" 1)" ''

case_begin 'a retry has its turn while messages of its phase keep coming, also with many readers'
sql 'CREATE SEQUENCE again MINVALUE 0'
for readers in 1 8 40; do
    sql 'ALTER SEQUENCE again RESTART; TRUNCATE ledger'
    q=$(scratch_name)
    lockstep queue create "$q" -q --create-topic --max-readers "$readers" --max-attempts 2 \
        --retry-intervals 0.05 >/dev/null
    {
        echo '{"order": 1, "sql": "SELECT 1 / nextval('"'again'"')"}'
        for n in {1..15000}; do echo "{\"order\": 1, \"sql\": \"SELECT 1\"}"; done
    } >"$tmp/work.jsonl"
    run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
    executors 1 "$q" "$readers"
    executors_wait || fail 'the executor failed'
    later=$(sql "WITH t AS MATERIALIZED (SELECT t.* FROM lockstep.task t JOIN lockstep.run USING (run_no)
                                         WHERE run_id = '$run')
                 SELECT count(*) FROM t
                 WHERE started_at > (SELECT started_at FROM t WHERE seq = 0 AND attempt_num = 2)")
    [ "$later" -gt 3000 ] ||
        expect "$readers readers: tasks that started after the second attempt of the first" "$later" 'more than 3000'
done

case_begin 'messages of other runs, and their retries, have their turn while a backlog without an owner is adopted'
# Until the other run is on the topic the backlog waits behind its first tasks.
hold_create
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 2 --runs concurrent --max-attempts 2 \
    --retry-intervals 0.05 >/dev/null
for n in {0..9999}; do
    echo "{\"order\": 1, \"sql\": \"SELECT $([ "$n" -lt 200 ] || echo "hold('$q'), ")work('$q', 1, $n, 0.003)\"}"
done >"$tmp/work.jsonl"
backlog=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
lockstep run pause "$backlog" -q >/dev/null
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 2 2>"$tmp/$q.0.log" &
pid=$!
eventually 20 is "SELECT tasks FROM lockstep.run WHERE run_id = '$backlog'" 10000 ||
    fail 'the messages of a paused run are not recorded'
lockstep run resume "$backlog" -q >/dev/null
eventually 10 is "SELECT count(*) > 100 FROM lockstep.task WHERE status = 'Completed' AND payload LIKE '%$q%'" t ||
    fail 'the backlog is not adopted'
sql 'ALTER SEQUENCE again RESTART'
live=$(for n in {1..40}; do
    echo "{\"order\": 1, \"sql\": \"SELECT 1 / nextval('again')\"}"
done | lockstep publish --queue "$q" -q -)
sql "INSERT INTO let_go VALUES ('$q')"
eventually 20 is "SELECT status FROM lockstep.run WHERE run_id = '$live'" Completed || fail 'the live run is not done'
left=$(sql "SELECT count(*) FROM lockstep.task JOIN lockstep.run USING (run_no)
    WHERE run_id = '$backlog' AND task.status <> 'Completed'")
[ "$left" -gt 500 ] || expect 'tasks of the backlog that are left when the live run is done' "$left" 'more than 500'
kill -TERM "$pid"
wait "$pid" || fail 'the executor failed'

case_begin 'failures do not change the order in which one reader runs its tasks'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 1 --on-failure continue >/dev/null
for n in {0..1999}; do echo "{\"order\": 1, \"sql\": \"SELECT 1 / ($n % 100 - 50)\"}"; done >"$tmp/work.jsonl"
run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
executors 1 "$q" 1
executors_wait || fail 'the executor failed'
got=$(
    sql <<SQL
WITH t AS (SELECT t.seq, t.status, t.started_at FROM lockstep.task t JOIN lockstep.run USING (run_no)
           WHERE run_id = '$run'),
     c AS (SELECT started_at,
                  max(started_at) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
           FROM t WHERE status = 'Completed')
SELECT (SELECT count(*) FROM t WHERE status = 'Failed'), count(*) FILTER (WHERE started_at < before) FROM c
SQL
)
expect 'failed; out of order' "$got" '20|0'
cases_end
exit $failed
