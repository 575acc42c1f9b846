#!/bin/bash
# External tasks: the example with its workers in Python and C. Many workers share a phase, and each task is done once,
# in phase order. A phase of external tasks only, and the phase behind it, open at once, also when the executor that
# claimed them is gone. Another worker takes the task of one that died. The queue's row is not locked while a worker's
# transaction is open.
# ctest: timeout=120
. "$(dirname "$0")/../support/e2e.bash"
role=$(scratch_name)
e2e_roles=("$role")
export PATH=$LOCKSTEP_TEST_PGBIN:$PATH

# example CONNINFO ROLE QUEUE: its temporary files are in $tmp/of_example
mkdir "$tmp/of_example"
example() {
    WORKER_ROLE=$2 QUEUE=$3 TMPDIR=$tmp/of_example timeout 60 \
        "$here/../../examples/notification/run.sh" "$1" "$LOCKSTEP_TEST_BROKERS" >"$tmp/example.log" 2>&1
}

case_begin 'the example refuses a login of workers that cannot sign in, and leaves nothing but this login behind'
refused=$(scratch_name)
e2e_roles+=("$refused")
sql "DO \$\$ BEGIN CREATE ROLE lockstep_test_password; EXCEPTION WHEN duplicate_object THEN NULL; END \$\$;
    CREATE ROLE $refused LOGIN; GRANT lockstep_test_password TO $refused"
! example "$db" "$refused" "$(scratch_name)" </dev/null || wrong 'it is not refused'
expect 'the reason' "$(grep -o "the login $refused of the workers cannot connect" "$tmp/example.log")" \
    "the login $refused of the workers cannot connect"
expect 'schema and queue' "$(sql "SELECT count(*) FROM pg_namespace WHERE nspname = 'notification'")/$(
    sql 'SELECT count(*) FROM lockstep.queue')" 0/0
expect 'temporary files' "$(ls "$tmp/of_example")" ''
[ $failed = 0 ] || cat "$tmp/example.log"

case_begin 'the worker of the examples does its tasks, in the database that a URI names'
[[ $db =~ ^host=(.*)\ port=(.*)\ user=(.*)\ dbname=postgres\ dbname=(.*)$ ]]
example "postgresql:///${BASH_REMATCH[4]}?host=${BASH_REMATCH[1]}&port=${BASH_REMATCH[2]}&user=${BASH_REMATCH[3]}" \
    "$role" "$(scratch_name)" || failed=1
expect 'what was sent' "$(sed -n '/What was sent/,/Who did it/p' "$tmp/example.log" | grep ': Hello' | tr '\n' ',')" \
    'email ann@example.org: Hello Ann!,email eve@example.org: Hello Eve!,sms +431234: Hello Bob!,sms +435678: Hello Eve!,'
expect 'the run' "$(sql 'SELECT status, completed FROM lockstep.run_status')" 'Completed|7'
expect 'attempts' "$(sql "SELECT name, attempt, status, split_part(worker, ' ', 2), executor_id IS NULL
    FROM lockstep.execution_log WHERE type = 'external' ORDER BY seq, attempt" | tr '\n' ' ')" \
    'ann|1|Error|python|t ann|2|Completed|python|t bob|1|Completed|python|t eve|1|Error|python|t eve|2|Completed|python|t invoice 1|1|Completed|C|t invoice 2|1|Completed|C|t '
expect 'their rows' "$(sql "SELECT (SELECT count(*) FROM notification.notification WHERE confirmed_at IS NOT NULL),
        (SELECT count(*) FROM notification.invoice WHERE printed_at IS NOT NULL)")" '3|2'
expect 'order' "$(sql 'SELECT count(*)
    FROM (SELECT min(started_at) AS s, lag(max(ended_at)) OVER (ORDER BY "order") AS before
          FROM lockstep.execution_log GROUP BY "order") x
    WHERE s < before')" 0
expect 'an exclusive subtype' "$(sql "INSERT INTO notification.invoice
    SELECT task_id, 1 FROM lockstep.task WHERE name = 'bob'" 2>&1 | grep -o 'violates check constraint')" \
    'violates check constraint'
[ $failed = 0 ] || cat "$tmp/example.log"

case_begin 'tables of users'\'' own types go with their tasks, and come back from a dump'
expect 'their owner' \
    "$(sql "SELECT bool_or(tableowner = '$role'), count(*) > 2 FROM pg_tables WHERE schemaname = 'notification'")" 'f|t'
sql "CREATE DATABASE ${db##*dbname=}_copy"
pg_dump -d "$db" | psql -X -q -v ON_ERROR_STOP=1 -d "${db}_copy" >"$tmp/restore.log" 2>&1 ||
    { failed=1; tail -3 "$tmp/restore.log"; }
expect 'restored' "$(psql -X -At -d "${db}_copy" -c 'SELECT (SELECT count(*) FROM notification.notification),
        (SELECT count(*) FROM notification.invoice), (SELECT count(*) FROM lockstep.task)')" '3|2|7'
psql -X -q -d "${db}_copy" -v ON_ERROR_STOP=1 -c 'DELETE FROM lockstep.task_attempt; DELETE FROM lockstep.task' 2>&1
expect 'tasks are deleted, and their rows with them' \
    "$(psql -X -At -d "${db}_copy" -c 'SELECT (SELECT count(*) FROM notification.notification),
            (SELECT count(*) FROM notification.email), (SELECT count(*) FROM notification.invoice)')" '0|0|2'
sql "DROP DATABASE ${db##*dbname=}_copy WITH (FORCE)"

case_begin 'several workers by psql take, note and complete tasks side by side'
as_worker="$db user=$role"
sql <<SQL
CREATE TABLE done (worker text, task_id bigint, ord bigint, at timestamptz DEFAULT clock_timestamp());
GRANT INSERT, SELECT ON done TO $role;
CREATE FUNCTION work_once(q text, w text) RETURNS boolean LANGUAGE plpgsql AS \$\$
DECLARE t record;
BEGIN
    SELECT * INTO t FROM lockstep.next_task(q, w);
    IF NOT FOUND THEN RETURN false; END IF;
    INSERT INTO done VALUES (w, t.task_id, t."order");
    PERFORM lockstep.modify_task(t.task_id, t.updated_at, 'Completed');
    RETURN true;
END \$\$;
CREATE PROCEDURE work_until(q text, w text, many int) LANGUAGE plpgsql AS \$\$
BEGIN
    FOR i IN 1 .. 3000 LOOP -- a minute at most
        IF NOT work_once(q, w) THEN
            COMMIT;
            EXIT WHEN (SELECT count(*) FROM done) >= many;
            PERFORM pg_sleep(0.02);
        END IF;
        COMMIT;
    END LOOP;
END \$\$
SQL
external() { for ((i = 0; i < $2; i++)); do echo "{\"order\": $1, \"type\": \"external\"}"; done; }
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 2
{
    external 1 60
    external 2 60
    echo '{"order": 2, "sql": "SELECT pg_sleep(0.05)"}'
    external 3 1
    external 4 60
    echo '{"order": 5, "sql": "SELECT 1"}'
    external 6 3
} >"$tmp/tasks.jsonl"
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
executors 2 "$q" 2
workers=()
for w in 1 2 3 4; do
    psql -X -q -v ON_ERROR_STOP=1 -d "$as_worker" -c "CALL work_until('$q', 'w$w', 184)" >>"$tmp/workers.log" 2>&1 &
    workers+=($!)
done
for pid in "${workers[@]}"; do wait "$pid" || { failed=1; cat "$tmp/workers.log"; }; done
executors_wait || { failed=1; tail -20 "$tmp/$q".*.log; }
expect 'the run' "$(sql "SELECT status, completed FROM lockstep.run_status WHERE run_id = '$run'")" 'Completed|186'
expect 'each once' "$(sql 'SELECT count(*), count(DISTINCT task_id), count(DISTINCT worker) > 1 FROM done')" '184|184|t'
expect 'in order' "$(sql 'SELECT count(*)
    FROM (SELECT min(at) AS s, lag(max(at)) OVER (ORDER BY ord) AS before FROM done GROUP BY ord) x
    WHERE s < before')" 0
expect 'promptly: no phase waited for the look every five seconds' "$(sql "SELECT max(d) < interval '4 s'
    FROM (SELECT p.opened_at - lag(p.last_end) OVER (ORDER BY \"order\") AS d FROM lockstep.phase_status p
          WHERE run_id = '$run') x")" t

case_begin 'the executor that claimed an external phase is killed, and the next one opens it'
sql 'DELETE FROM done'
{ echo '{"order": 1, "type": "external"}'; external 2 2; } >"$tmp/tasks.jsonl"
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" 2>"$tmp/killed.log" & killed=$!
eventually 20 is "SELECT count(*) FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE run_id = '$run'" 3
expect 'the first is open' "$(psql -X -At -d "$as_worker" -c "SELECT work_once('$q', 'w')")" t
kill -9 $killed
wait $killed 2>/dev/null || true
executors 1 "$q" 2
eventually 20 is "SELECT count(*) FROM lockstep.phase_status WHERE run_id = '$run' AND opened_at IS NOT NULL" 2

case_begin 'the lease of a worker that dies runs out by itself'
sql "UPDATE lockstep.queue SET external_lease = '1 s' WHERE name = '$q'"
expect 'taken' "$(psql -X -At -d "$as_worker" -c "SELECT \"order\" FROM lockstep.next_task('$q', 'dies')")" 2
sql "UPDATE lockstep.queue SET external_lease = '5 min' WHERE name = '$q'"
eventually 20 is "SELECT work_once('$q', 'w')" t
eventually 20 is "SELECT work_once('$q', 'w')" t
executors_wait || { failed=1; tail -20 "$tmp/$q".*.log; }
expect 'lost once' "$(sql "SELECT status,
        (SELECT count(*) FROM lockstep.execution_log WHERE run_id = '$run' AND worker = 'dies' AND error LIKE 'lost%')
    FROM lockstep.run_status WHERE run_id = '$run'")" 'Completed|1'

case_begin 'a report that is not committed locks its own task only'
# Two sessions. A report that is not committed locks its own task only: the queue's row is free, another worker reports.
external 1 2 >"$tmp/tasks.jsonl"
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
executors 1 "$q" 2
eventually 20 is "SELECT count(*) FROM lockstep.phase_status WHERE run_id = '$run' AND opened_at IS NOT NULL" 1
mkfifo "$tmp/in"
psql -X -q -At -d "$as_worker" <"$tmp/in" >"$tmp/out" 2>&1 &
exec 7>"$tmp/in"
echo "BEGIN; SELECT 'did ' || work_once('$q', 'slow');" >&7
eventually 10 grep -q 'did true' "$tmp/out"
expect 'another worker' "$(psql -X -At -d "$as_worker" -c "SELECT work_once('$q', 'quick')")" t
expect 'the queue is free' "$(sql "SELECT name = '$q' FROM lockstep.queue WHERE name = '$q' FOR UPDATE NOWAIT")" t
expect 'nothing else to do' "$(psql -X -At -d "$as_worker" -c "SELECT work_once('$q', 'third')")" f
expect 'the run goes on' "$(sql "SELECT status FROM lockstep.run_status WHERE run_id = '$run'")" Running
echo 'COMMIT; SELECT 1;' >&7
exec 7>&-
eventually 10 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Completed
executors_wait || failed=1
expect 'REPEATABLE READ' "$(psql -X -At -d "$as_worker" -c 'BEGIN ISOLATION LEVEL REPEATABLE READ' \
    -c "SELECT work_once('$q', 'w')" 2>&1 | grep -o 'need transactions that are READ COMMITTED')" \
    'need transactions that are READ COMMITTED'
expect 'nothing is left to settle' "$(sql 'SELECT count(*) FROM lockstep.worker_report')" 0

case_begin 'the worker of the examples continues after a send that failed when the task was no longer its own'
q=$(scratch_name)
notification() { # TEXT NAME
    echo "{\"order\": 1, \"type\": \"external\", \"kind\": \"notification\", \"name\": \"$2\"," \
        "\"input\": {\"template\": \"$1\", \"sms\": \"+431234\"}}" | lockstep publish --queue "$q" -q -
}
lockstep queue create "$q" -q --create-topic
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" 2>"$tmp/sends.log" &
executor=$!
mkfifo "$tmp/outbox"
exec 8<>"$tmp/outbox"
/usr/bin/python3 "$here/../../examples/notification/worker.py" "$as_worker" "$q" "$tmp/outbox" >"$tmp/sends" 2>&1 8>&- &
worker=$!
notification "$(printf '%0200000d' 0)" long >/dev/null # more than a pipe takes: the write waits for a reader
eventually 20 is "SELECT step FROM lockstep.task WHERE name = 'long'" render
read -rN 1 -u 8 _ # the worker is in the middle of its send
lockstep task cancel "$(sql "SELECT task_id FROM lockstep.task WHERE name = 'long'")" -q >/dev/null
exec 8>&- # the write fails
eventually 20 grep -q 'updated_at is stale' "$tmp/sends" || failed=1
rm "$tmp/outbox"
run=$(notification hello short)
eventually 20 run_is "$run" Completed || failed=1
expect 'what the worker said' "$(grep -c Traceback "$tmp/sends")$(grep -o 'short: confirmed' "$tmp/sends")" \
    '0short: confirmed'

case_begin 'the workers of the examples fail a task whose message lacks something, and continue with the next one'
cc -o "$tmp/worker" "$here/../../examples/notification/worker.c" -I"$(pg_config --includedir)" -lpq
"$tmp/worker" "$as_worker" "$q" >"$tmp/invoices" 2>&1 &
invoices=$!
of_kind() { # KIND NAME [INPUT]
    echo "{\"order\": 1, \"type\": \"external\", \"kind\": \"$1\", \"name\": \"$2\"${3:+, \"input\": $3}}"
}
run=$({
    of_kind notification 'no input'
    of_kind notification 'no template' '{"sms": "+431234"}'
    of_kind notification 'no object' '"Hello"'
    of_kind notification 'good notification' '{"template": "Hello", "sms": "+431234"}'
    of_kind invoice 'no input'
    of_kind invoice 'no amount' '{}'
    of_kind invoice 'no number' '{"amount": "much"}'
    of_kind invoice 'good invoice' '{"amount": 12.5}'
} | lockstep publish --queue "$q" -q -)
eventually 20 run_is "$run" Failed || cat "$tmp/sends" "$tmp/invoices"
expect 'how they ended' "$(sql "SELECT t.status, t.error IS NOT NULL, string_agg(t.name, ',' ORDER BY t.task_id)
    FROM lockstep.task t JOIN lockstep.run r USING (run_no)
    WHERE r.run_id = '$run' GROUP BY 1, 2 ORDER BY 2" | xargs)" \
    'Completed|f|good notification,good invoice Failed|t|no input,no template,no object,no input,no amount,no number'
kill $executor $worker $invoices || failed=1
wait $executor $worker $invoices || true
cases_end
exit $failed
