#!/bin/bash
# An executor dies in the middle of a phase, or freezes. Others adopt its work, in order, every effect once. The times
# are printed, and bounded generously: on a quiet machine they are below 2 s.
# ctest: timeout=180 timed
. "$(dirname "$0")/../support/e2e.bash"
ledger_create
sql <<'SQL'
CREATE TABLE let_go (q text);
CREATE TABLE tries (q text, seq int, at timestamptz, pid int);
CREATE FUNCTION hold(q text, seq int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WHILE NOT EXISTS (SELECT FROM let_go l WHERE l.q = hold.q) LOOP
        PERFORM pg_sleep(0.01);
    END LOOP;
    INSERT INTO ledger VALUES (q, 1, seq, now(), clock_timestamp());
END $$
SQL
daemon() {
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 4 2>>"$tmp/$1.log" &
    pid=$!
}
backends() {
    echo "SELECT count(*) FROM pg_stat_activity a JOIN lockstep.executor_session s ON s.pid = a.pid AND s.backend_start = a.backend_start JOIN lockstep.executor e USING (executor_no) WHERE e.pid = $1 AND a.query LIKE 'SELECT hold(%' AND a.state = 'active'"
}
now() { date +%s%3N; }

case_begin 'an idle executor adopts the work of one that died, though it looked at the others rarely'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4
daemon heir
heir=$pid
beats="SELECT coalesce(max(heartbeat), 0) FROM lockstep.executor WHERE pid = $heir"
more_beats() { [ "$(sql "$beats")" -ge "$1" ]; }
eventually 10 more_beats 1
kill -USR1 "$heir" # it leaves what comes to the other one
eventually 10 more_beats $(($(sql "$beats") + 1)) # and the next one is far
daemon victim
victim=$pid
eventually 10 grep -q event=executor_started "$tmp/victim.log"
echo "{\"order\": 1, \"sql\": \"SELECT hold('$q', 0)\"}" | lockstep publish --queue "$q" -q - >/dev/null
eventually 10 is "$(backends "$victim")" 1
kill -9 "$victim"
wait "$victim" 2>/dev/null || true
eventually $((4 * ${LOCKSTEP_TEST_PATIENCE:-1})) is "$(backends "$heir")" 1 ||
    { echo 'an idle executor does not notice the death of one that just began to work'; failed=1; }
sql "INSERT INTO let_go VALUES ('$q')"
kill -TERM "$heir"
wait "$heir" || { echo "the heir ended with $?"; failed=1; }

case_begin 'the tasks of a killed executor run elsewhere at once, and count as lost attempts'
times=()
for ((n = 0; n < ${LOCKSTEP_TEST_KILLS:-5}; n++)); do
    q=$(scratch_name)
    lockstep queue create "$q" -q --create-topic --max-readers 4
    for ((i = 0; i < 4; i++)); do echo "{\"order\": 1, \"sql\": \"SELECT hold('$q', $i)\"}"; done >"$tmp/tasks.jsonl"
    echo "{\"order\": 2, \"sql\": \"INSERT INTO ledger VALUES ('$q', 2, 4, now(), clock_timestamp())\"}" \
        >>"$tmp/tasks.jsonl"
    daemon victim
    victim=$pid
    run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
    eventually 10 is "$(backends "$victim")" 4
    daemon heir
    heir=$pid
    eventually 10 is "SELECT count(*) FROM lockstep.executor WHERE pid = $heir" 1
    # An attempt that was not shown yet is not counted: it begins again.
    eventually 10 is "SELECT count(*) FROM lockstep.task t JOIN lockstep.run r USING (run_no)
        WHERE r.run_id = '$run' AND t.status = 'Processing'" 4
    killed=$(now)
    kill -9 "$victim"
    wait "$victim" 2>/dev/null || true
    eventually 15 is "$(backends "$heir")" 4 || failed=1
    times+=($(($(now) - killed)))
    sql "INSERT INTO let_go VALUES ('$q')"
    eventually 15 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Completed || failed=1
    expect 'effects' "$(sql "SELECT count(*), count(DISTINCT seq) FROM ledger WHERE q = '$q'")" '5|5'
    expect 'attempts' "$(sql "SELECT string_agg(DISTINCT attempt || '=' || status, ' ') FROM lockstep.execution_log
        WHERE run_id = '$run' AND \"order\" = 1")" '1=Pending 2=Completed'
    kill -TERM "$heir"
    wait "$heir" || { echo "the heir ended with $?"; failed=1; }
done
printf 'taken over after kill -9, ms: %s\n' "${times[*]}"
for t in "${times[@]}"; do
    [ "$t" -le $((6000 * ${LOCKSTEP_TEST_PATIENCE:-1})) ] || { echo "$t ms is too long"; failed=1; }
done

case_begin 'a frozen executor is fenced, and does no harm when it wakes'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4
for ((i = 0; i < 4; i++)); do echo "{\"order\": 1, \"sql\": \"SELECT hold('$q', $i)\"}"; done >"$tmp/tasks.jsonl"
daemon frozen
frozen=$pid
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
eventually 10 is "$(backends "$frozen")" 4
daemon heir2
heir=$pid
eventually 10 is "SELECT count(*) FROM lockstep.executor WHERE pid = $heir" 1
since=$(now)
kill -STOP "$frozen"
eventually 40 is "$(backends "$heir")" 4 || failed=1
grep -Eq "event=executor_frozen queues=$q executor=[0-9a-f-]{36} host=[^ ]+ pid=$frozen " "$tmp/heir2.log" ||
    { grep executor_frozen "$tmp"/*.log; failed=1; }
printf 'taken over from a frozen executor, ms: %s\n' "$(($(now) - since))"
kill -CONT "$frozen"
eventually 10 grep -q 'event=incarnation_lost' "$tmp/frozen.log" || failed=1
sql "INSERT INTO let_go VALUES ('$q')"
eventually 15 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Completed || failed=1
expect 'effects after the thaw' "$(sql "SELECT count(*), count(DISTINCT seq) FROM ledger WHERE q = '$q'")" '4|4'

case_begin 'a task that ends its session every time comes to an end itself'
echo '{"order": 1, "sql": "SELECT pg_terminate_backend(pg_backend_pid())"}' >"$tmp/tasks.jsonl"
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
eventually 30 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Failed || failed=1
expect 'lost attempts' "$(sql "SELECT t.lost_num, t.error FROM lockstep.task t JOIN lockstep.run r USING (run_no)
    WHERE r.run_id = '$run'")" '5|given up: 5 attempts were lost'
cases_end
[ $failed = 0 ] || tail -n 15 "$tmp"/*.log
exit $failed
