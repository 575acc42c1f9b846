#!/bin/bash
# The connection of a reader breaks in the middle of a task while its backend is stopped, so the server does not notice.
# The next attempt begins when the backend of the first one is gone. The executor itself lives on. The slot names the
# new backend, so no executor takes the slot while that backend works. A reader without a session gets no task, and a
# gate does not ask without a pause for the task of a backend that cannot be ended.
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

case_begin 'a reader whose new connection gets no answer is assigned no task'
# The first reader is assigned the first task; the second one has its session all the time.
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 2
"$LOCKSTEP_BIN" executor run -d "$db" -s "postgres.task_conninfo=$via" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" \
    --readers 2 >"$tmp/log" 2>&1 &
executor=$!
own="FROM lockstep.executor_session s JOIN lockstep.executor e USING (executor_no)
     WHERE e.pid = $executor AND s.kind = 'reader'"
eventually 20 is "SELECT count(*) $own" 2
echo 'readers deaf' >"$tmp/network"
eventually 10 grep -q '^deaf readers' "$tmp/links"
sql "SELECT pg_terminate_backend((SELECT s.pid $own ORDER BY s.backend_start LIMIT 1))" >/dev/null
eventually 10 grep -q event=reader_lost "$tmp/log"
run=$(lockstep publish --queue "$q" -q - <<<'{"order": 1, "sql": "SELECT 1"}')
over() { run_is "$run" Completed || grep -q event=readers_cut_off "$tmp/log"; }
eventually 30 over
run_is "$run" Completed || wrong 'the task waits for the connection'
! grep -q event=readers_cut_off "$tmp/log" || wrong 'the task came behind the end of the connection'

case_begin 'a reader that has a session again is assigned tasks'
hold_create
echo 'readers heal' >"$tmp/network"
run=$(printf '{"order": 1, "sql": "SELECT hold($$%s$$)"}\n' "$q" "$q" | lockstep publish --queue "$q" -q -)
eventually 20 is "SELECT count(*) FROM lockstep.task WHERE status = 'Processing'" 2 || wrong 'not both readers work'
sql "INSERT INTO let_go VALUES ('$q')"
eventually 20 run_is "$run" Completed
told_to_end "$executor"

case_begin 'a gate rests while a backend of a killed executor is stopped'
# No executor may adopt the task of that backend, and none has S of its phase. A gate rests more than a second between
# its first question and its tenth.
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 2
daemon --queue "$q" --readers 1
killed=$daemon
mkfifo "$tmp/stream"
lockstep publish --queue "$q" -q --stream "$tmp/stream" >"$tmp/run" &
publisher=$!
exec 5>"$tmp/stream"
echo "{\"order\": 1, \"sql\": \"SELECT hold('$q')\"}" >&5
eventually 20 is "SELECT count(*) FROM lockstep.task WHERE status = 'Processing'" 1
old=$(sql "SELECT s.pid FROM lockstep.slot s JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$q' AND s.pid > 0")
kill -STOP "$old"
kill -9 "$killed"
wait "$killed" 2>/dev/null || true
mkdir "$tmp/hit"
LOCKSTEP_BIN=$LOCKSTEP_BIN-probed LOCKSTEP_PROBE=gate.wait=sleep:0@10 LOCKSTEP_PROBE_DIR=$tmp/hit \
    daemon --queue "$q" --readers 2 5>&-
eventually 20 incarnations "$tmp/daemon.log" 2
before=${EPOCHREALTIME/[.,]/}
echo '{"order": 2, "sql": "SELECT 1"}' >&5
exec 5>&-
wait "$publisher"
run=$(<"$tmp/run")
eventually 30 test -e "$tmp/hit/gate.wait.hit"
took_us=$((${EPOCHREALTIME/[.,]/} - before))
[ "$took_us" -ge 1000000 ] || wrong "a gate has asked ten times in $((took_us / 1000)) ms"
sql "INSERT INTO let_go VALUES ('$q')"
kill -CONT "$old"
eventually 30 run_is "$run" Completed || tail -n 5 "$tmp/daemon.log"
told_to_end "$daemon"
cases_end
[ $failed = 0 ] || { sql 'TABLE began'; tail -n 30 "$tmp/log"; }
exit $failed
