#!/bin/bash
# A session of others holds the row of a queue in an open transaction: the executor's other queues go on, with the same incarnation; explain
# and the command line name the session; what it kept waiting goes on when it has ended.
# ctest: nosan timeout=120
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/shell.bash"
tmp=$(mktemp -d)
trap 'jobs_end; scratch_drop; rm -rf "$tmp"' EXIT
failed=0
bad() { echo "$1"; failed=1; tail -n 20 "$tmp/log"; }
scratch_database
sql "CREATE TABLE let_go (q text);
     CREATE FUNCTION hold() RETURNS void LANGUAGE plpgsql AS \$\$
     BEGIN
         WHILE NOT EXISTS (SELECT FROM let_go) LOOP PERFORM pg_sleep(0.01); END LOOP;
     END \$\$"
a=$(scratch_name) b=$(scratch_name) c=$(scratch_name)
lockstep queue create "$a" -q --create-topic
lockstep queue create "$b" -q --create-topic
lockstep queue create "$c" -q --create-topic
publish() { echo "{\"order\": 1, \"sql\": \"$2\"}" | lockstep publish --queue "$1" -q -; }
is() { [ "$(sql "$1")" = "$2" ]; }
status() { echo "SELECT t.status::text || t.attempt_num FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$1'"; }
# hold SQL: a session whose transaction begins with it and stays open; its pid in $holder
hold() {
    rm -f "$tmp/in"
    mkfifo "$tmp/in"
    "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$db" <"$tmp/in" >"$tmp/out" &
    exec {feed}>"$tmp/in"
    echo "BEGIN; $1; SELECT 'pid ' || pg_backend_pid();" >&"$feed"
    eventually 10 grep -q '^pid' "$tmp/out"
    holder=$(sed -n 's/^pid //p' "$tmp/out")
}
"$LOCKSTEP_BIN" executor run --queue "$a" --queue "$b" --queue "$c" --readers 4 -d "$db" -b "$LOCKSTEP_TEST_BROKERS" 2>"$tmp/log" &
pid=$!
long=$(publish "$b" 'SELECT hold()')
eventually 20 is "$(status "$long")" Processing1
waits=$(publish "$a" 'SELECT pg_sleep(0)')
eventually 20 is "$(status "$waits")" Completed1
hold "SELECT FROM lockstep.queue WHERE name = '$a' FOR UPDATE"
echo '{"order": 1, "previous_order": 0, "sql": "SELECT 2"}' | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$a" -p 0
blocked() { [ "$(grep -cE 'event=(locks_taken|queue_set_aside).*lock timeout' "$tmp/log")" -ge 2 ]; }
eventually 30 blocked || bad 'a row that is held does not set its queue aside'
other=$(publish "$c" 'SELECT 3')
eventually 10 is "$(status "$other")" Completed1 || bad 'the other queue does not go on'
! grep -q 'event=incarnation_lost' "$tmp/log" || bad 'a row that is held costs the incarnation'
named() { lockstep queue explain "$a" >"$tmp/said" && head -1 "$tmp/said" | grep -q "^backend $holder holds the row of queue $a in an open transaction (.*idle in transaction"; }
eventually 10 named || bad "explain: $(cat "$tmp/said")"
# REMEDY_ROW_HELD, as it is printed
sql "$(grep -oE 'SELECT pid, usename, .* ORDER BY xact_start' <(grep 'lock timeout' "$tmp/log" | head -1))" | grep -q "^$holder|" || bad 'the hint does not show the session'
code=0
lockstep queue pause "$a" -q 2>"$tmp/refused" || code=$?
[ "$code" != 0 ] && grep -q 'SELECT pid, usename, .* ORDER BY xact_start' "$tmp/refused" || bad "a command that needs the row: $code, $(cat "$tmp/refused")"
sql "$(grep -oE 'SELECT pg_terminate_backend\([0-9]+\)' "$tmp/said" | head -1)" >/dev/null # as it is printed
eventually 30 is "SELECT count(*) FROM lockstep.task WHERE status = 'Completed'" 3 || bad 'what waited for the row does not go on'
sql "INSERT INTO let_go VALUES ('')"
eventually 20 is "$(status "$long")" Completed1 || bad 'the task of the other queue has lost its attempt'
kill -TERM "$pid"
wait "$pid" || bad "the executor ended with $?"
! grep -q 'event=incarnation_lost' "$tmp/log" || bad 'the executor has lost its incarnation'
exit $failed
