#!/bin/bash
# The connection of a reader breaks in the middle of a task while its backend is stopped, so the server does not notice.
# The next attempt begins when the backend of the first one is gone. The executor itself lives on. The slot names the
# new backend, so no executor takes the slot while that backend works.
. "$(dirname "$0")/../support/e2e.bash"
old=''
e2e_leave() { [ -z "$old" ] || kill -CONT "$old" 2>/dev/null; }
mkfifo "$tmp/network"
touch "$tmp/links"
"$here/../torture/proxy.py" "$tmp/network" \
    "readers=0:127.0.0.1:$(sed -n 's/.* port=\([0-9]*\) .*/\1/p' <<<"$LOCKSTEP_TEST_PG")" >"$tmp/links" &
eventually 10 grep -q '^ready' "$tmp/links"
via="host=127.0.0.1 port=$(sed -n 's/^readers //p' "$tmp/links") user=lockstep_test dbname=${db##*dbname=}"

case_begin 'the attempt after one whose connection broke begins when the backend of that one is gone'
sql 'CREATE TABLE began (pid int, beside int, slots int, noted int, at timestamptz DEFAULT clock_timestamp())'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 1
cat >"$tmp/work.jsonl" <<'WORK'
{"order": 1, "sql": "INSERT INTO began SELECT pg_backend_pid(), (SELECT count(*) FROM pg_stat_activity WHERE pid IN (SELECT pid FROM began)), (SELECT count(*) FROM lockstep.slot WHERE pid = pg_backend_pid()), (SELECT count(*) FROM lockstep.executor_session WHERE pid = pg_backend_pid()); SELECT pg_sleep(CASE (SELECT count(*) FROM began) WHEN 1 THEN 60 ELSE 0 END)", "transaction": false}
WORK
"$LOCKSTEP_BIN" executor run -d "$db" -s "postgres.task_conninfo=$via" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" \
    --readers 1 >"$tmp/log" 2>&1 &
executor=$!
lockstep publish --queue "$q" -q "$tmp/work.jsonl" >/dev/null
began() { [ "$(sql 'SELECT count(*) FROM began')" = 1 ]; }
eventually 20 began
old=$(sql 'SELECT pid FROM began')
kill -STOP "$old"
echo 'readers reset' >"$tmp/network"
new_session() {
    [ "$(sql "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
          AND application_name = 'lockstep/reader' AND pid <> $old AND query <> ''")" = 1 ]
}
eventually 10 new_session
beside_the_old=$(sql 'SELECT count(*) - 1 FROM began') # it asks for the end of the old one, and waits
kill -CONT "$old"
eventually 20 is 'SELECT status, attempt_num, lost_num FROM lockstep.task' 'Completed|2|1' ||
    wrong "$(sql 'SELECT status, attempt_num, lost_num, error FROM lockstep.task')"
expect 'attempts that began while the backend of the first one was there' "$beside_the_old" 0
expect 'backends of other attempts, as each attempt saw them' \
    "$(sql 'SELECT string_agg(beside::text, $$ $$ ORDER BY at) FROM began')" '0 0'

case_begin 'the slot and the executor name the backend on which a task runs'
expect 'names' "$(sql 'SELECT DISTINCT slots, noted FROM began')" '1|1'

case_begin 'the executor logs the lost attempt, and is the same incarnation until it ends'
told_to_end "$executor"
grep -q 'event=attempt_lost' "$tmp/log" || wrong 'the loss was not logged'
! grep -q 'event=incarnation_lost' "$tmp/log" || wrong 'the incarnation was lost'
cases_end
[ $failed = 0 ] || { sql 'TABLE began'; tail -n 30 "$tmp/log"; }
exit $failed
