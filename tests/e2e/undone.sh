#!/bin/bash
# A statement that the server undoes for another session's sake (a deadlock, a serialization failure) is repeated at its
# place, for every statement of an executor: no incarnation, no session and no attempt is lost for it. Here each 41st
# write of a table is undone.
# ctest: nosan timeout=120
. "$(dirname "$0")/../support/e2e.bash"
case_begin 'a statement that the server undoes is repeated, and no incarnation, session or attempt is lost for it'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4 --max-attempts 2
sql "CREATE TABLE effect (order_no int, n int)"
for ((order = 1; order <= 12; order++)); do
    for ((n = 0; n < 6; n++)); do
        case $n in
            # Long enough to be shown.
            0) work="[\"INSERT INTO effect VALUES ($order, $n)\", \"SELECT pg_sleep(0.06)\"]" ;;
            1) work="\"SET LOCAL work_mem = '8MB'; INSERT INTO effect VALUES ($order, $n)\"" ;;
            *) work="\"INSERT INTO effect VALUES ($order, $n)\"" ;;
        esac
        echo "{\"order\": $order, \"sql\": $work}"
    done
    echo "{\"order\": $order, \"sql\": \"SELECT 1 / 0\", \"retry_intervals\": [0]}"
done >"$tmp/tasks"
run=$(lockstep publish --queue "$q" -q --on-failure continue "$tmp/tasks")
sql <<'SQL'
CREATE SEQUENCE undone;
CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF nextval('public.undone') % 41 = 0 THEN RAISE 'made up' USING ERRCODE = '40P01'; END IF;
    RETURN NULL;
END $$;
GRANT USAGE ON SEQUENCE undone TO PUBLIC
SQL
for table in queue run phase task task_attempt slot slot_waiter event_log executor executor_session; do
    sql "CREATE TRIGGER undo BEFORE INSERT OR UPDATE OR DELETE ON lockstep.$table FOR EACH STATEMENT
        EXECUTE FUNCTION undo()"
done
for n in 1 2; do
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 3 2>"$tmp/$n.log" &
    pid[n]=$!
done
eventually 60 run_is "$run" PartiallyCompleted || wrong 'the run does not end'
told_to_end "${pid[@]}"
expect 'tasks' \
    "$(sql "SELECT status, attempt_num, lost_num, count(*) FROM lockstep.task GROUP BY 1, 2, 3 ORDER BY 2")" \
    $'Completed|1|0|72\nFailed|2|0|12'
expect 'effects' "$(sql 'SELECT count(*), count(DISTINCT (order_no, n)) FROM effect')" '72|72'
expect 'locks' "$(sql "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
    WHERE l.locktype = 'advisory' AND a.datname = current_database()")" 0
grep -q event=statement_repeated "$tmp"/*.log || wrong 'nothing was undone'
if grep -E 'event=(incarnation_lost|reader_lost|attempt_lost|queue_set_aside)' "$tmp"/*.log; then
    wrong 'something was lost'
fi
cases_end
[ $failed = 0 ] || tail -n 20 "$tmp"/*.log
exit $failed
