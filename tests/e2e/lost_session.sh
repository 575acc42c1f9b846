#!/bin/bash
# The connection of a reader breaks in the middle of a task while its backend stands still, so the server does not notice. The next
# attempt begins when the first one can do nothing any more: its backend is gone. The executor itself lives on, and the slot names
# the new backend, so that nobody takes it while that one is at work.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/shell.bash"
tmp=$(mktemp -d)
old=''
trap '[ -z "$old" ] || kill -CONT "$old" 2>/dev/null || true; jobs_end; scratch_drop; rm -rf "$tmp"' EXIT
scratch_database 2>/dev/null
mkfifo "$tmp/network"
touch "$tmp/links"
"$here/../torture/proxy.py" "$tmp/network" "readers=0:127.0.0.1:$(sed -n 's/.* port=\([0-9]*\) .*/\1/p' <<<"$LOCKSTEP_TEST_PG")" >"$tmp/links" &
eventually 10 grep -q '^ready' "$tmp/links"
via="host=127.0.0.1 port=$(sed -n 's/^readers //p' "$tmp/links") user=lockstep_test dbname=${db##*dbname=}"

sql 'CREATE TABLE began (pid int, beside int, slots int, noted int, at timestamptz DEFAULT clock_timestamp())'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 1
cat >"$tmp/work.jsonl" <<'WORK'
{"order": 1, "sql": "INSERT INTO began SELECT pg_backend_pid(), (SELECT count(*) FROM pg_stat_activity WHERE pid IN (SELECT pid FROM began)), (SELECT count(*) FROM lockstep.slot WHERE pid = pg_backend_pid()), (SELECT count(*) FROM lockstep.executor_session WHERE pid = pg_backend_pid()); SELECT pg_sleep(CASE (SELECT count(*) FROM began) WHEN 1 THEN 60 ELSE 0 END)", "transaction": false}
WORK
"$LOCKSTEP_BIN" executor run -d "$db" -s "postgres.task_conninfo=$via" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 1 >"$tmp/log" 2>&1 &
executor=$!
lockstep publish --queue "$q" -q "$tmp/work.jsonl" >/dev/null
began() { [ "$(sql 'SELECT count(*) FROM began')" = 1 ]; }
eventually 20 began
old=$(sql 'SELECT pid FROM began')
kill -STOP "$old"
echo 'readers reset' >"$tmp/network"
new_session() { [ "$(sql "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'lockstep/reader' AND pid <> $old AND query <> ''")" = 1 ]; }
eventually 10 new_session
beside_the_old=$(sql 'SELECT count(*) - 1 FROM began') # it asks for the end of the old one, and waits
kill -CONT "$old"
completed() { [ "$(sql 'SELECT status, attempt_num, lost_num FROM lockstep.task')" = 'Completed|2|1' ]; }
eventually 20 completed || { sql 'SELECT status, attempt_num, lost_num, error FROM lockstep.task' && cat "$tmp/log" && exit 1; }
kill -TERM "$executor"
wait "$executor"
[ "$beside_the_old" = 0 ] || { echo 'the next attempt began while the backend of the first one was there' && exit 1; }
[ "$(sql 'SELECT string_agg(beside::text, $$ $$ ORDER BY at) FROM began')" = '0 0' ] || { echo 'the attempts overlapped' && sql 'TABLE began' && exit 1; }
[ "$(sql 'SELECT DISTINCT slots, noted FROM began')" = '1|1' ] || { echo 'a task ran on a backend that its slot or its executor did not name' && sql 'TABLE began' && exit 1; }
grep -q 'event=attempt_lost' "$tmp/log" || { echo 'the loss was not said' && exit 1; }
if grep -q 'event=incarnation_lost' "$tmp/log"; then echo 'the executor did not live on' && exit 1; fi
