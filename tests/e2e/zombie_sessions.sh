#!/bin/bash
# An executor whose calls get no answer: the server's backend of its liveness or control session is stopped (SIGSTOP),
# or the line is cut silently. After T1 it starts no task, ends the running ones, and begins a new incarnation; the loss
# is one line in its log. A stopped backend of a reader is waited for, and when its executor dies no other one runs the
# task at the same time.
# ctest: nosan timeout=120
. "$(dirname "$0")/../support/e2e.bash"
. "$here/probes.bash"
halted=() # backends that stand still
e2e_leave() { kill -CONT "${halted[@]}" 2>/dev/null; }
points_create
sql <<'SQL'
CREATE TABLE let_go (q text);
CREATE FUNCTION hold(q text, seq int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE started timestamptz := clock_timestamp();
BEGIN
    WHILE NOT EXISTS (SELECT FROM let_go l WHERE l.q = hold.q) LOOP PERFORM pg_sleep(0.01); END LOOP;
    INSERT INTO ledger VALUES (q, 1, seq, started, clock_timestamp());
END $$
SQL

declare -A queue executor
# begin NAME ADDRESS READERS: an executor that runs two tasks which wait to be let go
begin() {
    local q i
    q=$(scratch_name) queue[$1]=$q
    lockstep queue create "$q" -q --create-topic --max-readers "$3"
    for i in 0 1; do echo "{\"order\": 1, \"sql\": \"SELECT hold('$q', $i)\"}"; done >"$tmp/$q.jsonl"
    echo "{\"order\": 2, \"sql\": \"SELECT work('$q', 2, 2, 0)\"}" >>"$tmp/$q.jsonl"
    db="$db$2" point_executor "$1" "$LOCKSTEP_BIN" --queue "$q" --readers "$3"
    executor[$1]=$pid
    lockstep publish --queue "$q" -q "$tmp/$q.jsonl" >/dev/null
    eventually 10 is "$(running "$1")" 2
}
running() {
    echo "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT hold(''${queue[$1]}''%' AND state = 'active'"
}
backend() {
    sql "SELECT a.pid FROM lockstep.executor_session s JOIN lockstep.executor e USING (executor_no)
        JOIN pg_stat_activity a ON a.pid = s.pid AND a.backend_start = s.backend_start
        WHERE e.pid = ${executor[$1]} AND s.kind = '$2' LIMIT 1"
}
# While it waits: in the middle of a scan it has a lock of a page, for which all sessions that write there would wait.
waits_and_stands() {
    kill -STOP "$1" 2>/dev/null || return 0 # a dispatcher that only asks for the lock comes and goes
    is "SELECT wait_event IN ('ClientRead', 'PgSleep') FROM pg_stat_activity WHERE pid = $1" t ||
        { kill -CONT "$1"; return 1; }
}
stop() { eventually 10 waits_and_stands "$1" || wrong "backend $1 does not wait"; halted+=("$1"); }
# lost NAME [LINES]: once, behind the first LINES of its log
lost() { [ "$(tail -n +"$((${2:-0} + 1))" "$tmp/$1.log" | grep -c 'event=incarnation_lost')" = 1 ]; }
now() { date +%s%3N; }

mkfifo "$tmp/orders"
port=$("$LOCKSTEP_TEST_PGBIN/psql" -X -At -d "$db" -c "SHOW port")
python3 "$here/../torture/proxy.py" "$tmp/orders" "pg=0:127.0.0.1:$port" >"$tmp/ports" &
exec 7>"$tmp/orders"
eventually 10 grep -q pg "$tmp/ports"
proxied=" host=127.0.0.1 port=$(awk '{ print $2 }' "$tmp/ports")"

# There is no other one yet, which would end its sessions after its own T2. T1 is 6 s.
frozen_after=12s begin liveness '' 2
case_begin 'an executor without an answer on its liveness session ends its tasks after T1, though other sessions are well'
stop "$(backend liveness liveness)"
since=$(now)
eventually 10 lost liveness || failed=1
eventually 10 is "$(running liveness)" 0 || failed=1
took=$(($(now) - since))
[ "$took" -lt 12000 ] || wrong "no liveness for $took ms, and still running"
expect 'liveness: the one line' \
    "$(grep -c 'level=warn' <(grep -v tasks_run_with "$tmp/liveness.log" | grep -v executor_not_signed_off))" 1
grep -q 'event=incarnation_lost object=liveness.*error="the server does not answer"' "$tmp/liveness.log" ||
    { cat "$tmp/liveness.log"; failed=1; }

begin control '' 3 # one reader is free, so it claims the next task
begin line "$proxied" 2
frozen_after=20s begin reader '' 2 # it is not to be lost
begin both '' 2

case_begin 'an executor without an answer on its control session ends its tasks at its next call there'
stop "$(backend control control)"
lockstep publish --queue "${queue[control]}" -q "$tmp/${queue[control]}.jsonl" >/dev/null
eventually 10 lost control || failed=1
eventually 10 is "$(running control)" 0 || failed=1
grep -q 'event=incarnation_lost.*error="the server does not answer"' "$tmp/control.log" ||
    { cat "$tmp/control.log"; failed=1; }

case_begin 'another executor takes over from one whose line is cut, while it is cut'
before=$(wc -l <"$tmp/line.log")
echo 'pg cut' >&7
eventually 10 lost line "$before" || failed=1
point_executor heir "$LOCKSTEP_BIN" --queue "${queue[line]}"
heir=$pid
eventually 15 is "SELECT count(*)
    FROM lockstep.task JOIN lockstep.executor e USING (executor_no) JOIN lockstep.queue q USING (queue_id)
    WHERE q.name = '${queue[line]}' AND e.pid = $heir AND \"order\" = 1" 2 || failed=1
echo 'pg heal' >&7

case_begin 'a task whose backend stands still is not run by another executor, also when its own one dies'
stop "$(backend reader reader)"
stop "$(backend both reader)"
kill -9 "${executor[both]}"
wait "${executor[both]}" 2>/dev/null || true
point_executor heir2 "$LOCKSTEP_BIN" --queue "${queue[both]}"
heir2=$pid
eventually 10 grep -q 'event=executor_started' "$tmp/heir2.log"
sleep 3 # T2 of the dead one and more: nothing is to happen in this time
expect 'attempts beside a stopped backend' "$(sql "SELECT count(*)
    FROM lockstep.task JOIN lockstep.executor e USING (executor_no) WHERE e.pid = $heir2 AND \"order\" = 1")" 0
expect 'the reader: its executor goes on' "$(grep -c 'event=incarnation_lost' "$tmp/reader.log" || true)" 0

case_begin 'a dispatcher and a monitor whose server does not answer end soon after SIGTERM'
lockstep job apply - -q >/dev/null <<END
{"jobs": [{"job": "tick", "queue": "${queue[line]}", "tasks": [{"order": 1, "sql": "SELECT 1"}], "overlap": "skip",
           "schedules": [{"name": "s", "kind": "interval", "every": "1s"}]}]}
END
printf '[postgres]\nconninfo = %s\n[monitor]\nevery = 200ms\n' "$db" >"$tmp/monitor.conf"
chmod 600 "$tmp/monitor.conf"
declare -A ends=()
"$LOCKSTEP_BIN" scheduler run -d "$db" 2>"$tmp/scheduler.log" &
ends[dispatcher]=$!
LOCKSTEP_CONFIG=$tmp/monitor.conf "$LOCKSTEP_BIN" monitor run 2>"$tmp/monitor.log" &
ends[monitor]=$!
eventually 10 grep -q event=scheduler_started "$tmp/scheduler.log" || failed=1
eventually 10 grep -q event=monitor_started "$tmp/monitor.log" || failed=1
# The executors have dispatchers, too: one of them may have the lock, and the others ask for it every two seconds.
sessions="SELECT pid FROM pg_stat_activity WHERE application_name IN ('lockstep/dispatcher', 'lockstep/monitor')
    AND datname = current_database()"
eventually 10 is "SELECT count(DISTINCT application_name) FROM pg_stat_activity WHERE pid IN ($sessions)" 2 || failed=1
for pid in $(sql "$sessions"); do stop "$pid"; done
sleep 2.5 # each has sent a statement by now
since=$(now)
kill -TERM "${ends[@]}"
wait "${ends[@]}" || true
took=$(($(now) - since))
[ "$took" -le 12000 ] || wrong "they ended after $took ms"

case_begin 'a monitor that waits for the answer to a connection ends soon after SIGTERM'
sed -i "s|^conninfo = .*|conninfo = $db$proxied|" "$tmp/monitor.conf"
LOCKSTEP_CONFIG=$tmp/monitor.conf "$LOCKSTEP_BIN" monitor run 2>"$tmp/connecting.log" &
monitor=$!
eventually 10 grep -q event=monitor_started "$tmp/connecting.log" || failed=1
echo 'pg reset' >&7
echo 'pg cut' >&7
sleep 1.5 # it has lost its session and connects again
since=$(now)
kill -TERM "$monitor"
wait "$monitor" || true
took=$(($(now) - since))
[ "$took" -le 8000 ] || wrong "it ended after $took ms"
echo 'pg heal' >&7

case_begin 'when all answer again each run ends, each task has its effect once, and no row is impossible'
sql "INSERT INTO let_go SELECT name FROM lockstep.queue"
kill -CONT "${halted[@]}"
halted=()
lockstep job delete tick >/dev/null # a backend that stood still in its transaction held the locks of the job's rows
eventually 20 points_done || { sql 'TABLE lockstep.run_status'; failed=1; }
told_to_end "${executor[liveness]}" "${executor[control]}" "${executor[line]}" "${executor[reader]}" "$heir" "$heir2"
for name in liveness line reader both; do expect "$name" "$(ledger_check "${queue[$name]}" 2)" ''; done
expect 'control: two runs' "$(sql "SELECT count(*) FROM ledger WHERE q = '${queue[control]}'")" 6
expect 'reader: attempts' "$(sql "SELECT max(attempt_num) FROM lockstep.task JOIN lockstep.queue q USING (queue_id)
    WHERE q.name = '${queue[reader]}'")" 1
expect 'rows that are impossible' "$(sql "$(cat "$here/../support/impossible.sql")")" ''
cases_end
[ $failed = 0 ] || tail -n 12 "$tmp"/*.log
exit $failed
