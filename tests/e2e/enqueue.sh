#!/bin/bash
# Work that SQL enqueues: its run is on the topic once, if and only if its transaction commits, wherever the relay is
# killed, at the same time as publishers, from many sessions and from triggers. A mistake is refused in the caller's
# transaction.
# ctest: slow nosan timeout=180 long
. "$(dirname "$0")/../support/e2e.bash"
sql 'CREATE TABLE effect (what text, at timestamptz DEFAULT clock_timestamp())'
queue() { lockstep queue create "$1" -q --create-topic "${@:2}"; }
effects() { sql "SELECT string_agg(what, ' ' ORDER BY at) FROM effect WHERE what LIKE '$1%'"; }
# work ORDER WHAT: a task as SQL's jsonb
work() {
    printf "'{\"order\": %d, \"sql\": \"INSERT INTO effect VALUES (\$1)\", \"params\": [\"%s\"]}'::jsonb" "$1" "$2"
}
all_sent() {
    is "SELECT count(*) FROM lockstep.enqueued e JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$1'" 0
}
all_ended() { is "SELECT count(*) FROM lockstep.run_status WHERE queue = '$1' AND ended_at IS NULL" 0; }
executor() {
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$1" --readers "${2:-1}" \
        2>>"$tmp/$1.log" &
}
# refused WHAT TASKS PATTERN
refused() {
    local said
    if said=$(sql "SELECT lockstep.enqueue('$q', $2)" 2>&1); then echo "$1: not refused"; failed=1; return; fi
    grep -qE "$3" <<<"$said" || { echo "$1: $said"; failed=1; }
}

# Killed at each step; another executor finishes, and the next enqueued runs follow.
killed() {
    local q=$1 at=$2 pid status=0
    failed=0
    sql "SELECT lockstep.enqueue('$q', ARRAY[$(work 20 "$q-b"), $(work 10 "$q-a")], 'one')" >/dev/null
    sql "SELECT lockstep.enqueue('$q', ARRAY[$(work 10 "$q-c")])" >/dev/null
    LOCKSTEP_PROBE=$at=kill LOCKSTEP_PROBE_DIR=$tmp "${LOCKSTEP_BIN}-probed" executor run -d "$db" \
        -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 1 2>"$tmp/$q.probed.log" &
    pid=$!
    wait "$pid" || status=$?
    expect "$at: killed" "$status" 137
    executor "$q"
    pid=$!
    eventually 40 all_sent "$q" || failed=1
    eventually 40 all_ended "$q" || failed=1
    sql "SELECT lockstep.enqueue('$q', ARRAY[$(work 10 "$q-d")])" >/dev/null
    eventually 20 all_sent "$q" || failed=1
    eventually 20 all_ended "$q" || failed=1
    kill -TERM "$pid"
    wait "$pid" || failed=1
    expect "$at: once, in order" "$(effects "$q")" "$q-a $q-b $q-c $q-d"
    expect "$at: runs" \
        "$(sql "SELECT count(*), count(*) FILTER (WHERE status = 'Completed'), sum(tasks), count(published_at)
            FROM lockstep.run_status WHERE queue = '$q'")" '3|3|4|3'
    expect "$at: rejected" "$(sql "SELECT count(*) FROM lockstep.rejected WHERE queue = '$q'")" 0
    [ $failed = 0 ] || cat "$tmp/$q.probed.log" "$tmp/$q.log"
    return $failed
}
declare -A pids
for at in enqueue.locked enqueue.opened enqueue.settled enqueue.fetched enqueue.sent enqueue.committed enqueue.noted \
    enqueue.unlocked; do
    q=$(scratch_name)
    queue "$q"
    killed "$q" "$at" &
    pids[$at]=$!
done

case_begin 'runs that several sessions enqueue are sent whole, each once, and in the order of their session'
q=$(scratch_name)
queue "$q" --runs serial
executor "$q" 4
executor "$q" 4
session() {
    for ((i = 1; i <= 12; i++)); do
        echo "BEGIN; SELECT lockstep.enqueue('$q', ARRAY[$(work 1 "s$1-$i-a"), $(work 2 "s$1-$i-b")]); COMMIT;"
        echo "BEGIN; SELECT lockstep.enqueue('$q', ARRAY[$(work 1 "never-$1-$i")]); ROLLBACK;"
    done | "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -v ON_ERROR_STOP=1 -d "$db" >/dev/null
}
sessions=()
for n in 1 2 3 4 5 6; do
    session $n &
    sessions+=($!)
done
for n in 1 2 3; do
    printf '{"order": 1, "sql": "INSERT INTO effect VALUES ($1)", "params": ["p%d"]}\n' $n |
        lockstep publish -q --queue "$q" - >/dev/null || failed=1
done
for pid in "${sessions[@]}"; do wait "$pid" || failed=1; done
eventually 40 all_sent "$q" || failed=1
eventually 40 all_ended "$q" || failed=1
expect 'sessions: each once' "$(sql "SELECT count(*), count(DISTINCT what) FROM effect WHERE what ~ '^s\\d'")" '144|144'
expect 'sessions: publishers' "$(sql "SELECT count(*) FROM effect WHERE what ~ '^p\\d'")" 3
expect 'sessions: nothing of what was rolled back' "$(sql "SELECT count(*) FROM effect
    WHERE what LIKE 'never%'")$(sql "SELECT count(*) FROM lockstep.run_status WHERE queue = '$q'")" 075
got=$(
    sql <<'SQL'
SELECT count(*)
FROM (SELECT split_part(what, '-', 2)::int AS n, split_part(what, '-', 3) AS p,
             lag(split_part(what, '-', 2)::int * 2 + (what LIKE '%b')::int)
                 OVER (PARTITION BY split_part(what, '-', 1) ORDER BY at) AS before
      FROM effect WHERE what ~ '^s\d') AS x
WHERE before > n * 2 + (p = 'b')::int
SQL
)
expect 'sessions: out of order' "$got" 0

case_begin 'an enqueued run waits for a publisher that holds the queue, and says so'
mkfifo "$tmp/pipe"
lockstep publish -q --stream --queue "$q" - <"$tmp/pipe" >/dev/null 2>&1 &
publisher=$!
exec 7>"$tmp/pipe"
printf '{"order": 1, "sql": "INSERT INTO effect VALUES ($1)", "params": ["stream"]}\n' >&7
held() {
    is "SELECT count(*) FROM lockstep.run_status
        WHERE queue = '$q' AND status IN ('Publishing', 'Published', 'Running')" 1
}
eventually 20 held || failed=1
run=$(sql "SELECT lockstep.enqueue('$q', ARRAY[$(work 1 behind)], 'behind')")
expect 'held: shown' "$(sql "SELECT status, name FROM lockstep.run_status WHERE run_id = '$run'")" 'Publishing|behind'
expect 'name and policy are in the first message' \
    "$(sql "SELECT messages[1]::jsonb ->> 'run_name', messages[1]::jsonb ->> 'run_on_failure' FROM lockstep.enqueued
        WHERE run_id = '$run'")" 'behind|stop'
lockstep run explain "$run" | grep -q 'was enqueued by .* is not on the topic yet: backend .* is publishing' ||
    { lockstep run explain "$run"; failed=1; }
told() {
    lockstep queue show "$q" -o json |
        jq -e '.queue | .enqueued == 1 and (.outbox_trouble // "" | test("waits for another producer"))' >/dev/null
}
eventually 30 told || failed=1
exec 7>&-
wait $publisher || failed=1
eventually 20 all_sent "$q" || failed=1
eventually 20 all_ended "$q" || failed=1
expect 'held: afterwards' \
    "$(sql "SELECT string_agg(what, ' ' ORDER BY at) FROM effect WHERE what IN ('stream', 'behind')")" 'stream behind'
eventually 10 is "SELECT count(*) FROM lockstep.relay WHERE trouble IS NOT NULL" 0 || failed=1

case_begin 'an enqueued run closes the run of a publisher that died half-way'
mkfifo "$tmp/pipe2"
"$LOCKSTEP_BIN" publish -q --stream -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" - <"$tmp/pipe2" >/dev/null 2>&1 &
publisher=$!
exec 7>"$tmp/pipe2"
printf '{"order": 1, "sql": "INSERT INTO effect VALUES ($1)", "params": ["half"]}\n' >&7
eventually 20 is "SELECT count(*) FROM effect WHERE what = 'half'" 1 || failed=1
kill -9 $publisher
wait $publisher 2>/dev/null || true
exec 7>&-
sql "SELECT lockstep.enqueue('$q', ARRAY[$(work 1 after)])" >/dev/null
eventually 30 is "SELECT count(*) FROM effect WHERE what = 'after'" 1 || failed=1
expect 'a dead publisher' "$(sql "SELECT count(*) FROM lockstep.run_status
    WHERE queue = '$q' AND status = 'Failed' AND reason ~ 'aborted'")" 1

case_begin 'a trigger enqueues a run for each row, or one for a statement'
sql <<SQL
CREATE TABLE orders (id int, note text, prio int);
CREATE TRIGGER each AFTER INSERT ON orders FOR EACH ROW WHEN (NEW.prio IS NULL) EXECUTE FUNCTION
   lockstep.enqueue_trigger('$q',
       '[{"order": 1, "name": "{note}", "sql": "INSERT INTO effect VALUES (concat(\$1::text, \$2::text, \$3::text))", "params": ["row-", "{id}", "{{id}}"]}]',
       'a row');
CREATE TRIGGER all_of_it AFTER INSERT ON orders REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION
   lockstep.enqueue_trigger('$q',
       '{"order": "{prio}", "sql": "INSERT INTO effect VALUES (concat(\$1::text, \$2::text))", "params": ["statement-", "{id}"]}')
SQL
sql "INSERT INTO orders SELECT 0, '', 1 WHERE false"
sql "ALTER TABLE orders DISABLE TRIGGER all_of_it;
    INSERT INTO orders VALUES (1, NULL, NULL), (2, 'two', NULL);
    ALTER TABLE orders ENABLE TRIGGER all_of_it"
sql "INSERT INTO orders VALUES (5, 'five', 30), (4, 'four', 10), (3, 'three', 20)"
eventually 20 is "SELECT count(*) FROM effect WHERE what LIKE 'row-%' OR what LIKE 'statement-%'" 5 || failed=1
expect 'a trigger for rows' "$(effects row-)" 'row-1{id} row-2{id}'
expect 'a trigger for a statement' "$(effects statement-)" 'statement-4 statement-3 statement-5'
expect 'names' "$(sql "SELECT string_agg(coalesce(t.name, '-'), ' ' ORDER BY t.task_id)
    FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.name = 'a row'")" '- two'
for bad in 'INSERT INTO orders VALUES (6, NULL, 0)|task 1: "order" is no whole number' \
    'ALTER TABLE orders RENAME COLUMN prio TO p; INSERT INTO orders VALUES (7, NULL, 1)|names the column prio, which the table does not have'; do
    said=$(sql "BEGIN; ALTER TABLE orders DISABLE TRIGGER each; ${bad%|*}; COMMIT" 2>&1) &&
        { echo "not refused: $bad"; failed=1; }
    grep -q "${bad#*|}" <<<"$said" || { echo "${bad#*|}: $said"; failed=1; }
done
expect 'what a trigger refuses is not there' "$(sql 'SELECT count(*) FROM orders WHERE id > 5')" 0

case_begin 'a wrong task is refused with its number'
# A mistake is refused with the number of the task; one that only the parser of messages sees ends its run and stops
# nothing.
good="'{\"order\": 1, \"sql\": \"SELECT 1\"}'::jsonb"
refused 'no queue' "NULL) FROM lockstep.enqueue('none', ARRAY[$good]" 'there is no queue none'
refused 'no task' "'{}'" 'at least one task'
refused 'no tasks at all' 'NULL' 'at least one task'
refused 'NULL' "ARRAY[$good, NULL]" 'task 2: it is no JSON object'
refused 'an array' "ARRAY['[]'::jsonb]" 'task 1: it is no JSON object'
refused 'no order' "ARRAY[$good, '{\"sql\": \"SELECT 1\"}']" 'task 2: it has no "order"'
for o in 0 -1 1.5 1.0 9223372036854775808 1e400; do
    refused "order $o" "ARRAY['{\"order\": $o, \"sql\": \"x\"}'::jsonb]" 'task 1: "order" is no whole number'
done
refused 'a text' "ARRAY['{\"order\": \"1\", \"sql\": \"x\"}'::jsonb]" '"order" is string, not number'
refused 'nothing to do' "ARRAY['{\"order\": 1}'::jsonb]" 'nothing to do'
refused 'two things to do' "ARRAY['{\"order\": 1, \"sql\": \"x\", \"url\": \"http://x\"}'::jsonb]" 'more than one thing'
refused 'empty' "ARRAY['{\"order\": 1, \"sql\": \" \"}'::jsonb]" 'empty'
refused 'what is computed' "ARRAY['{\"order\": 1, \"sql\": \"x\", \"seq\": 1}'::jsonb]" '"seq" is not for you'
refused 'an unknown field' "ARRAY['{\"order\": 1, \"sqll\": \"x\"}'::jsonb]" 'there is no field "sqll"'
refused 'an end' "ARRAY['{\"order\": 1, \"type\": \"end\"}'::jsonb]" '"type" is none of'
refused 'too large' "ARRAY[jsonb_build_object('order', 1, 'sql', repeat('x', 1000000))]" 'bytes, 999872 are allowed'
refused 'too many' "array_fill($good, ARRAY[100001])" 'at most 100000'
refused 'a long list of intervals' \
    "ARRAY[jsonb_build_object('order', 1, 'sql', 'x', 'retry_intervals', to_jsonb(array_fill(1, ARRAY[10000])))]" \
    '"retry_intervals" is no list'
refused 'a negative time-out' "ARRAY[jsonb_build_object('order', 1, 'sql', 'x', 'timeout', -1)]" '"timeout" is not from'
refused 'a key of 10 kB' "ARRAY[jsonb_build_object('order', 1, 'sql', 'x', 'key', repeat('k', 10240))]" \
    '"key" is longer than 1000 bytes'
refused 'a key of 501 letters of 2 bytes' "ARRAY[jsonb_build_object('order', 1, 'sql', 'x', 'key', repeat('ü', 501))]" \
    '"key" is longer than 1000 bytes'
refused 'a long name' "ARRAY[jsonb_build_object('order', 1, 'sql', 'x', 'name', repeat('ü', 1001))]" \
    '"name" is longer than 1000 characters'
refused 'the month 13' "ARRAY[jsonb_build_object('order', 1, 'sql', 'x', 'not_before', '2026-13-01T00:00:00Z')]" \
    '"not_before" is no time'
refused 'a long description' "ARRAY[jsonb_build_object('order', 1, 'sql', 'x', 'description', repeat('d', 10001))]" \
    '"description" is longer than 10000 characters'
refused 'the year 294277' "ARRAY[jsonb_build_object('order', 1, 'sql', 'x', 'not_before', '294277-01-01T00:00:00Z')]" \
    '"not_before" is no time'
for entry in '"boo"' 40 '"4000"' '""' '"-"'; do
    refused "retry_on $entry" "ARRAY['{\"order\": 1, \"sql\": \"x\", \"retry_on\": [\"40\", $entry]}'::jsonb]" \
        '"retry_on" is no list'
done
refused 'a kind that is a type' "ARRAY['{\"order\": 1, \"type\": \"external\", \"kind\": \"sql\"}'::jsonb]" \
    '"kind" is the name of a type'
refused 'a field of another type' "ARRAY['{\"order\": 1, \"sql\": \"x\", \"method\": \"PUT\"}'::jsonb]" \
    '"method" does not belong to a task of type sql'
sql "BEGIN; SELECT lockstep.enqueue('$q', ARRAY['{\"order\": 1, \"type\": \"external\", \"input\": null}'::jsonb]);
    ROLLBACK" >/dev/null || wrong 'an input of null is refused'
# The name of a run in its first message, as long as that has room, and its policy always.
for bytes in 993808 993809 997880 997881 999872; do
    run=$(sql "WITH t AS (SELECT jsonb_build_object('order', 1, 'sql', 'SELECT 1 -- ') AS task)
        SELECT lockstep.enqueue('$q', ARRAY[jsonb_set(task, '{sql}', to_jsonb(
            (task ->> 'sql') || repeat('x', $bytes - octet_length(task::text))))], repeat('\"', 1000)) FROM t")
    eventually 20 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Completed || failed=1
    named=$([ $bytes -le 997880 ] && echo t || echo f)
    expect "a first task of $bytes bytes" \
        "$(sql "SELECT r.reason, r.name = repeat('\"', 1000),
                    (SELECT octet_length(payload) > $bytes + 2000 FROM lockstep.task t WHERE t.run_no = r.run_no),
                    (SELECT payload::jsonb ->> 'run_on_failure' FROM lockstep.task t WHERE t.run_no = r.run_no)
                FROM lockstep.run_status r WHERE run_id = '$run'")" "|t|$named|stop"
done
run=$(sql "SELECT lockstep.enqueue('$q', ARRAY[$good, '{\"order\": 2, \"sql\": [\"SELECT 1\"], \"params\": [1]}'])")
sql "SELECT lockstep.enqueue('$q', ARRAY[$(work 1 onward)])" >/dev/null
eventually 20 is "SELECT count(*) FROM effect WHERE what = 'onward'" 1 || failed=1
expect 'what the parser refuses' "$(sql "SELECT status, tasks, reason ~ 'seq 1 cannot be published: [$]\.params'
    FROM lockstep.run_status WHERE run_id = '$run'")" 'Failed|0|t'
expect 'the fields are those of the schema' \
    "$(sql 'SELECT field FROM lockstep.enqueue_fields() ORDER BY field COLLATE "C"')" \
    "$(jq -r '.["$defs"].message.properties
        | keys - ["run", "run_name", "run_on_failure", "seq", "previous_order", "tasks", "phases", "aborted"] | .[]' \
        "$here/../../docs/reference/message.schema.json" | LC_ALL=C sort)"

case_begin 'a producer may enqueue, and so may a login that changes a table with a trigger'
role=$(scratch_name)
sql "CREATE ROLE $role LOGIN; GRANT INSERT ON orders TO $role; DROP TRIGGER all_of_it ON orders"
as() { "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -v ON_ERROR_STOP=1 -d "$db" -c "SET SESSION AUTHORIZATION $role" -c "$1"; }
as "SELECT lockstep.enqueue('$q', ARRAY[$good])" 2>/dev/null && { echo 'anybody may enqueue'; failed=1; }
as "INSERT INTO orders (id) VALUES (8)" || failed=1
eventually 20 is "SELECT count(*) FROM effect WHERE what = 'row-8{id}'" 1 || failed=1
sql "GRANT lockstep_producer TO $role"
as "SELECT lockstep.enqueue('$q', ARRAY[$good])" >/dev/null || failed=1
eventually 20 all_ended "$q" || failed=1
expect 'by whom' "$(sql "SELECT count(*) FROM lockstep.run WHERE published_by = '$role'")" 2
sql "DROP OWNED BY $role; DROP ROLE $role"

case_begin 'an operator does not wait for a transaction that has enqueued'
session_open BEGIN "SELECT lockstep.enqueue('$q', ARRAY[$good])"
lockstep queue pause "$q" -q --reason 'a test' || failed=1 # it would be refused after 10 s
lockstep queue resume "$q" -q || failed=1
lockstep queue set "$q" -q --max-attempts 2 || failed=1
session_close

case_begin 'a topic that takes less than a task may have: the runs that are too large fail, and no other one'
libs=$(tr '\0' '\n' <"/proc/$LOCKSTEP_TEST_KAFKA_PID/cmdline" | grep -A1 -xE -- '-cp|-classpath' | tail -1)
q=$(scratch_name)
queue "$q"
java -cp "$libs" kafka.admin.ConfigCommand --bootstrap-server "$LOCKSTEP_TEST_BROKERS" --entity-type topics \
    --entity-name "$q" --alter --add-config max.message.bytes=20000 >"$tmp/configs" 2>&1 ||
    { cat "$tmp/configs"; failed=1; }
large="jsonb_build_object('order', 2, 'sql', 'SELECT 1', 'params', ARRAY[repeat('x', 20000)])"
sql "SELECT lockstep.enqueue('$q', ARRAY[$(work 1 fits-1)], 'fits'),
        lockstep.enqueue('$q', ARRAY[$(work 1 never), $large], 'large'),
        lockstep.enqueue('$q', ARRAY[$(work 1 fits-2)], 'fits')" >/dev/null
executor "$q"
eventually 20 all_ended "$q" || failed=1
expect 'the runs' "$(sql "SELECT name, status, reason ~ '^the message of seq 1 cannot be published: .*(size|large)'
    FROM lockstep.run_status WHERE queue = '$q' ORDER BY run_no")" 'fits|Completed|
large|Failed|t
fits|Completed|'
expect 'effects' "$(effects fits)" 'fits-1 fits-2'

case_begin 'a rejected message whose redrive the topic does not take is free to be redriven'
rejected=$(sql "INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw)
    SELECT queue_id, 100000, 'hole', 'd', convert_to($large::text, 'UTF8') FROM lockstep.queue WHERE name = '$q'
    RETURNING rejected_id")
redrive() { sql "SELECT lockstep.redrive($rejected, $1, 'r', false, false) ->> 'run_id'"; }
run=$(redrive NULL)
eventually 20 is "SELECT status FROM lockstep.run WHERE run_id = '$run'" Failed || failed=1
expect 'not redriven' "$(sql "SELECT num_nulls(redriven_at, redrive_run, redriven_by, redrive_noted)
    FROM lockstep.rejected WHERE rejected_id = $rejected")" 4
run=$(redrive "$(work 1 corrected | sed 's/::jsonb$//')")
eventually 20 is "SELECT status FROM lockstep.run WHERE run_id = '$run'" Completed || failed=1
expect 'corrected, it is' "$(sql "SELECT redrive_run = '$run' FROM lockstep.rejected WHERE rejected_id = $rejected")" t

case_begin 'a database that was set back to before the sending does not send again'
q=$(scratch_name)
queue "$q"
run=$(sql "SELECT lockstep.enqueue('$q', ARRAY[$(work 1 set-back)])")
sql "CREATE TABLE kept AS SELECT * FROM lockstep.enqueued WHERE run_id = '$run'"
executors 1 "$q" 1
executors_wait || failed=1
sql "INSERT INTO lockstep.enqueued OVERRIDING SYSTEM VALUE SELECT * FROM kept;
    UPDATE lockstep.relay r SET next_offset = 0 FROM kept k WHERE r.queue_id = k.queue_id"
executor "$q"
eventually 20 all_sent "$q" || failed=1
kill -TERM $!
wait $! || failed=1
expect 'set back' "$(kcat -C -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0 -o beginning -e \
    -X isolation.level=read_committed -f '%o\n' | wc -l)" 2

case_begin 'an executor whose clock is two hours ahead publishes enqueued runs and dead letters'
q=$(scratch_name)
queue "$q"
printf '\x20\x1c\0\0\0\0\0\0' >"$tmp/clock" # 7200, as clock.c reads it
ahead() {
    LOCKSTEP_TORTURE_CLOCK=$tmp/clock LD_PRELOAD=${LOCKSTEP_BIN%/*}/libtorture_clock.so exec "$LOCKSTEP_BIN" "$@"
}
ahead executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 1 2>"$tmp/$q.log" &
pid=$!
sql "SELECT lockstep.enqueue('$q', ARRAY[$(work 1 ahead)])" >/dev/null
echo 'no JSON' | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0
eventually 20 is "SELECT count(*) FROM effect WHERE what = 'ahead'" 1 || failed=1
eventually 20 is "SELECT count(*) FROM lockstep.rejected WHERE queue = '$q' AND dead_lettered_at IS NOT NULL" 1 ||
    failed=1
kill -TERM $pid
wait $pid || failed=1
expect 'its clock' "$(($(date -d "$(sed -n '1s/^ts=\([^ ]*\).*/\1/p' "$tmp/$q.log")" +%s) - $(date +%s) > 7000))" 1
expect 'no trouble' "$(grep -c 'event=relay_waits' "$tmp/$q.log")" 0

case_begin 'a publisher whose clock is two hours ahead publishes nothing and says why; another host publishes'
q=$(scratch_name)
queue "$q"
echo '{"order": 1, "sql": "SELECT 1"}' >"$tmp/ahead.jsonl"
status=0
(ahead publish -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" "$tmp/ahead.jsonl") >"$tmp/ahead.out" 2>&1 || status=$?
expect 'exit code' "$status" 1
expect 'says why' "$(grep -c 'hint: compare the clocks of this host' "$tmp/ahead.out")" 1
lockstep publish -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" "$tmp/ahead.jsonl" || failed=1
expect 'once' "$(kcat -C -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0 -o beginning -e -X isolation.level=read_committed \
    -f '%s\n' | wc -l)" 2

case_begin 'an executor that is killed at any step leaves its work to another one'
for at in "${!pids[@]}"; do
    wait "${pids[$at]}" || { echo "$at: see above"; failed=1; }
done
cases_end
[ $failed = 0 ] || grep -h -e level=warn -e level=error "$tmp"/*.log | grep -v executor_rights || true
exit $failed
