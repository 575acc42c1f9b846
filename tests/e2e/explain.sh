#!/bin/bash
# explain with an executor at work: each situation is answered with its cause, its culprit and its remedy, the first
# cause first. tests/sql/explain.sql has the situations that rows alone can make.
# ctest: nosan
. "$(dirname "$0")/../support/e2e.bash"
login=$(scratch_name)
prepared=$(scratch_name)
e2e_roles=("$login")
two=''
e2e_leave() {
    exec 6>&- 7>&- 8>&- 9>&-
    sql "ROLLBACK PREPARED '$prepared'" 2>/dev/null
    local db=$two
    scratch_drop
}
two=$db # another database, with a queue on the same topic
scratch_database
one=$db
sql <<SQL
CREATE TABLE item (id int PRIMARY KEY, n int);
INSERT INTO item SELECT i, 0 FROM generate_series(1, 4) AS i;
CREATE TABLE let_go (n int);
CREATE FUNCTION hold(n int) RETURNS void LANGUAGE plpgsql AS \$\$
BEGIN WHILE NOT EXISTS (SELECT FROM let_go l WHERE l.n = hold.n) LOOP PERFORM pg_sleep(0.01); END LOOP; END \$\$;
CREATE ROLE $login LOGIN IN ROLE lockstep_monitor
SQL
# says COMMAND... -- PATTERN HELPS: the first line of the answer matches PATTERN, the second HELPS
says() {
    local command=() out
    while [ "$1" != -- ]; do command+=("$1"); shift; done
    out=$(lockstep "${command[@]}")
    if ! grep -Eq -- "$2" <<<"$(sed -n 1p <<<"$out")" || ! grep -Eq -- "$3" <<<"$(sed -n 2p <<<"$out")"; then
        printf 'lockstep %s:\n%s\n  wanted %s\n  and    %s\n' "${command[*]}" "$out" "$2" "$3"
        failed=1
    fi
}
# psql_open FD NAME: a session that stays; its commands are written to the descriptor
psql_open() { # NAME FIFO
    mkfifo "$2"
    PGAPPNAME=$1 "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$db" <"$2" >"$2.out" 2>&1 &
}
pid_of() { sql "SELECT pid FROM pg_stat_activity WHERE application_name = '$1' AND datname = current_database()"; }
reader_of() {
    sql "SELECT pid FROM pg_stat_activity
        WHERE application_name = 'lockstep/reader' AND query LIKE '%$1%' AND datname = current_database()"
}
task_of() { sql "SELECT task_id FROM lockstep.task WHERE name = '$1'"; }

q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4

case_begin 'an open transaction of an unknown producer is named before an executor has seen it'
db=$two lockstep queue create "other$q" -q --topic "$q"
echo '{"order": 1, "sql": "SELECT 1"}' >"$tmp/one.jsonl"
LOCKSTEP_PROBE_DIR=$tmp LOCKSTEP_PROBE=publish.committing=hold "$LOCKSTEP_BIN-probed" publish -d "$two" \
    -b "$LOCKSTEP_TEST_BROKERS" --queue "other$q" "$tmp/one.jsonl" >/dev/null 2>&1 &
foreign=$!
eventually 20 test -e "$tmp/publish.committing.hit"
says queue explain "$q" -- "an open Kafka transaction holds back what lies on topic $q from offset 0 on" \
    "kafka-transactions.sh --bootstrap-server $LOCKSTEP_TEST_BROKERS describe-producers --topic $q --partition 0"
touch "$tmp/publish.committing.go"
wait $foreign || true
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4

case_begin 'work without an executor is explained by the end of the last one'
for n in 1 2 3; do
    echo "{\"order\": 1, \"name\": \"k$n\", \"sql\": \"UPDATE item SET n = n + 1 WHERE id = $n /*k$n*/\"}"
done >"$tmp/tasks.jsonl"
echo '{"order": 1, "name": "k4", "sql": "SELECT hold(4) /*k4*/"}' >>"$tmp/tasks.jsonl"
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
says run explain "$run" -- "no executor works for queue $q; none has ever reached this database for it" \
    "^  lockstep executor run --queue $q\. If one was started and cannot connect, its own log says why"
"$LOCKSTEP_BIN" executor run -d "$db" -s "postgres.task_conninfo=$db user=nosuch$$" -b "$LOCKSTEP_TEST_BROKERS" \
    --queue "$q" 2>/dev/null && failed=1
says queue explain "$q" -- \
    "no executor works for queue $q; the last one was .* \(pid [0-9]+\), which ended with: .*role \"nosuch$$\" does not exist" \
    "lockstep executor run --queue $q"
lockstep check >"$tmp/check" || true
grep -Eq "^warn +executors +no executor works for queue $q" "$tmp/check" ||
    { echo 'check does not say that nobody works for the queue'; cat "$tmp/check"; failed=1; }

case_begin 'explain names the cause of the wait of each of four tasks'
# Four tasks at once. One waits for a session, one for a prepared transaction, one at the end of a chain, one for
# nothing.
psql_open forgotten "$tmp/a"; exec 6>"$tmp/a"
psql_open middle "$tmp/b"; exec 7>"$tmp/b"
psql_open root "$tmp/c"; exec 8>"$tmp/c"
echo 'BEGIN; UPDATE item SET n = 7 WHERE id = 1;' >&6
sql "BEGIN; UPDATE item SET n = 7 WHERE id = 2; PREPARE TRANSACTION '$prepared'"
echo 'BEGIN; UPDATE item SET n = 7 WHERE id = 4;' >&8
echo 'BEGIN; UPDATE item SET n = 7 WHERE id = 3;' >&7
eventually 10 is \
    "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()" 3
echo 'UPDATE item SET n = 7 WHERE id = 4;' >&7
eventually 10 is \
    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'middle' AND wait_event_type = 'Lock'" 1
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 4 2>"$tmp/daemon.log" &
daemon=$!
eventually 15 is "SELECT count(*) FROM lockstep.task WHERE status = 'Processing'" 4
eventually 10 is "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN (SELECT backend_pid FROM lockstep.task)" 3
for n in 1 2 3 4; do
    expect "the session of k$n" "$(sql "SELECT backend_pid FROM lockstep.task WHERE name = 'k$n'")" "$(reader_of "k$n")"
    lockstep task explain "$(task_of "k$n")" | grep -q "runs for .*, backend $(reader_of "k$n")$" ||
        { echo "k$n: wrong backend"; failed=1; }
done
a=$(pid_of forgotten) b=$(pid_of middle) c=$(pid_of root)
says task explain "$(task_of k1)" -- \
    "\"k1\" of order 1 waits for a row lock in table public.item that backend $a holds \([a-z_]+, forgotten, from 127.0.0.1, idle in transaction for [0-9]+ s\): BEGIN; UPDATE item|that backend $a holds \(.*forgotten.*idle in transaction.*\): UPDATE item" \
    "SELECT pg_terminate_backend\($a\)\. Or: lockstep task cancel $(task_of k1)$"
says task explain "$(task_of k2)" -- \
    "\"k2\" of order 1 waits for a row lock in table public.item that prepared transaction \"$prepared\" holds" \
    "ROLLBACK PREPARED '$prepared' \(or COMMIT PREPARED '$prepared'\)"
chain="the chain: backend $(reader_of k3) waits for $b, which waits for $c"
says task explain "$(task_of k3)" -- \
    "\"k3\" .* waits for a row lock in table public.item that backend $c holds \(.*, root, .*$chain" \
    "SELECT pg_terminate_backend\($c\)"
says task explain "$(task_of k4)" -- "\"k4\" of order 1 runs for .* backend $(reader_of k4)$" \
    "lockstep task cancel $(task_of k4)"
expect 'the run names exactly those' "$(lockstep run explain "$run" -o json |
    jq -r '[.[] | select(.reason | startswith("task_blocked")) | .sentence | split(" ")[2]] | sort | join(" ")')" \
    '"k1" "k2" "k3"'

case_begin 'a login that may not see other sessions says so, and names the lock and its holder'
blind() { "$LOCKSTEP_BIN" "$@" -d "$db user=$login" -b "$LOCKSTEP_TEST_BROKERS"; }
out=$(blind task explain "$(task_of k1)")
grep -Eq "waits for a row lock in table public.item that backend $a holds \(.*, forgotten" <<<"$out" ||
    { echo "without rights: $out"; failed=1; }
grep -Eq "role $login may not see what the sessions of other roles do" <<<"$out" &&
    grep -q "GRANT pg_read_all_stats TO $login" <<<"$out" || { echo "without rights: $out"; failed=1; }
out=$(blind task explain "$(task_of k4)")
sed -n 1p <<<"$out" | grep -q 'runs for' && grep -q "GRANT pg_read_all_stats TO $login" <<<"$out" ||
    { echo "without rights, nothing waits: $out"; failed=1; }

case_begin 'a frozen executor is named'
# Frozen: its heartbeat is old. It is made old, for the test does not wait.
kill -STOP "$daemon"
sql "UPDATE lockstep.executor SET heartbeat_at = clock_timestamp() - interval '1 minute' WHERE ended_at IS NULL"
says queue explain "$q" -- "waits for|holds its locks and has not stirred for 1 m" ''
lockstep queue explain "$q" | grep -A1 "(pid $daemon) holds its locks and has not stirred for 1 m" |
    grep -q "kill -CONT $daemon lets it continue; kill -KILL $daemon ends it" ||
    { echo 'a frozen executor is not named'; failed=1; }
expect 'executor list' "$(lockstep executor list -o json | jq -r '.[].state')" frozen
lockstep check >"$tmp/check" && failed=1
grep -Eq "^FAIL +executors +executor .*\(pid $daemon\) holds its locks" "$tmp/check" || { cat "$tmp/check"; failed=1; }
kill -CONT "$daemon"

case_begin 'an executor that a signal holds is named, with the signal that frees it'
state_is() { [ "$(lockstep executor list -o json | jq -r '.[].state')" = "$1" ]; }
kill -USR1 "$daemon"
eventually 20 state_is held || { lockstep executor list; failed=1; }
lockstep queue explain "$q" | grep -A2 "(pid $daemon) claims nothing for queue $q: a signal (SIGUSR1) holds it" |
    grep -q "kill -USR2 $daemon" || { lockstep queue explain "$q"; failed=1; }
kill -USR2 "$daemon"
eventually 20 state_is ok || { lockstep executor list; failed=1; }

case_begin 'the queue continues when the culprits are gone'
sql "SELECT pg_terminate_backend($a), pg_terminate_backend($c)" >/dev/null
sql "ROLLBACK PREPARED '$prepared'"
echo 'ROLLBACK;' >&7
sql 'INSERT INTO let_go VALUES (4)'
eventually 20 is "SELECT status FROM lockstep.run WHERE run_id = '$run' AND ended_at IS NOT NULL" Completed ||
    { lockstep run explain "$run"; failed=1; }
case_begin 'a task that waits for another one names it'
{
    echo '{"order": 1, "name": "k5", "sql": "WITH u AS (UPDATE item SET n = n + 1 WHERE id = 1 RETURNING id) SELECT hold(5) FROM u /*k5*/"}'
    echo '{"order": 1, "name": "k6", "sql": "WITH h AS MATERIALIZED (SELECT hold(6)) UPDATE item SET n = n + 1 FROM h WHERE id = 1 /*k6*/"}'
} >"$tmp/two.jsonl"
run=$(lockstep publish --queue "$q" -q "$tmp/two.jsonl")
eventually 15 is "SELECT count(*) FROM lockstep.task JOIN lockstep.run r USING (run_no)
    WHERE run_id = '$run' AND task.status = 'Processing'" 2
sql 'INSERT INTO let_go VALUES (6)'
eventually 10 is "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = $(reader_of k6)" 1
holder="task $(task_of k5) \"k5\" of run $run in backend $(reader_of k5)"
says run explain "$run" -- "\"k6\" of order 1 waits for a row lock in table public.item that $holder holds" \
    "Wait for it, or: lockstep task cancel $(task_of k5)$"
sql 'INSERT INTO let_go VALUES (5)'
eventually 20 is "SELECT status FROM lockstep.run WHERE run_id = '$run' AND ended_at IS NOT NULL" Completed ||
    { lockstep run explain "$run"; failed=1; }
case_begin 'a foreign session that holds the lock of a phase is named'
{
    echo '{"order": 1, "name": "k7", "sql": "SELECT hold(7) /*k7*/"}'
    echo '{"order": 2, "name": "k8", "sql": "SELECT 1"}'
} >"$tmp/two.jsonl"
run=$(lockstep publish --queue "$q" -q "$tmp/two.jsonl")
eventually 15 is "SELECT count(*) FROM lockstep.task WHERE name = 'k7' AND status = 'Processing'" 1
psql_open intruder "$tmp/d"; exec 9>"$tmp/d"
echo "SELECT pg_advisory_lock_shared(1280507905, lockstep.phase_key((SELECT phase_id FROM lockstep.task WHERE name = 'k7'), 0));" >&9
eventually 10 is "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'intruder' AND state = 'idle'" 1
d=$(pid_of intruder)
sql 'INSERT INTO let_go VALUES (7)'
eventually 15 is "SELECT status FROM lockstep.task WHERE name = 'k7'" Completed
says run explain "$run" -- \
    "^backend $d holds locks that only executors take \(.*, intruder, .*\), of order 1 of run $run: the phase behind it does not open while it holds them: SELECT pg_advisory_lock_shared" \
    "^  SELECT pg_terminate_backend\($d\)\. "
lockstep check >"$tmp/check" && failed=1
grep -Eq "^FAIL +executors +backend $d holds locks" "$tmp/check" || { cat "$tmp/check"; failed=1; }
sql "$(lockstep run explain "$run" | grep -oE 'SELECT pg_terminate_backend\([0-9]+\)' | head -1)" >/dev/null
eventually 20 is "SELECT status FROM lockstep.run WHERE run_id = '$run' AND ended_at IS NOT NULL" Completed ||
    { lockstep run explain "$run"; failed=1; }
kill -TERM "$daemon"
wait "$daemon" || true

case_begin 'an executor that cannot reach Kafka is named'
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
"$LOCKSTEP_BIN" executor run -d "$db" -b 127.0.0.1:1 --queue "$q" --readers 1 2>"$tmp/cut_off.log" &
daemon=$!
cut_off() {
    lockstep run explain "$run" | sed -n 1p |
        grep -Eq "executor .* \(pid $daemon\) cannot reach Kafka for [0-9]+ s: "
}
eventually 20 cut_off || { lockstep run explain "$run"; tail -5 "$tmp/cut_off.log"; failed=1; }
expect 'executor list' "$(lockstep executor list -o json | jq -r '.[].state')" 'no Kafka'
lockstep check >"$tmp/check" && failed=1
grep -Eq "^FAIL +executors +executor .*\(pid $daemon\) cannot reach Kafka" "$tmp/check" ||
    { cat "$tmp/check"; failed=1; }
kill -TERM "$daemon"
wait "$daemon" || true
cases_end
[ $failed = 0 ] || tail -n 10 "$tmp"/*.log
exit $failed
