#!/bin/bash
# An attempt that runs for longer than its task's time-out is cancelled. If it ignores the cancel its session is
# severed. It counts as failed, also when it catches the cancel and ends by itself. Tasks in other sessions and the next
# one are left alone. A sequence counts how often a task has caught its cancel, as no rollback undoes it: on a slow
# machine the time may be over before the statement that catches has begun. sleeps() catches twice: the server signals
# the backend and then its process group (signal_child in its postmaster.c), and the second signal may come behind what
# the first one has ended.
. "$(dirname "$0")/../support/e2e.bash"
sql <<'SQL'
CREATE TABLE effect (n int);
CREATE FUNCTION sleeps() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    BEGIN
        PERFORM pg_sleep(60);
        RETURN true;
    EXCEPTION WHEN query_canceled THEN
        PERFORM pg_sleep(0.3);
    END;
    RETURN false;
EXCEPTION WHEN query_canceled THEN
    RETURN false;
END $$;
CREATE FUNCTION deaf() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO effect VALUES (9);
    LOOP
        PERFORM sleeps();
    END LOOP;
END $$;
CREATE FUNCTION catches(caught regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT sleeps() THEN
        PERFORM nextval(caught);
    END IF;
END $$;
CREATE SEQUENCE "swallows"; CREATE SEQUENCE "swallows bare";
CREATE SEQUENCE "swallows in a step"; CREATE SEQUENCE "swallows in the last step"
SQL
cat >"$tmp/tasks.jsonl" <<'END'
{"order": 1, "name": "twice", "timeout": 0.2, "max_attempts": 2, "retry_intervals": [0.05], "sql": ["INSERT INTO effect VALUES (1)", "SELECT pg_sleep(60)"]}
{"order": 1, "name": "bare", "timeout": 0.2, "transaction": false, "sql": "SELECT pg_sleep(60)"}
{"order": 1, "name": "deaf", "timeout": 0.2, "sql": "SELECT deaf()"}
{"order": 1, "name": "swallows", "timeout": 1, "max_attempts": 2, "retry_intervals": [0.05], "sql": ["INSERT INTO effect VALUES (8)", "SELECT catches('\"swallows\"')"]}
{"order": 1, "name": "swallows bare", "timeout": 1, "transaction": false, "sql": "SELECT catches('\"swallows bare\"')"}
{"order": 1, "name": "swallows in a step", "timeout": 1, "steps": [{"name": "a", "sql": "SELECT catches('\"swallows in a step\"')"}, {"name": "b", "sql": "INSERT INTO effect VALUES (7)"}]}
{"order": 1, "name": "swallows in the last step", "timeout": 1, "steps": [{"name": "a", "sql": "INSERT INTO effect VALUES (6)"}, {"name": "b", "sql": ["INSERT INTO effect VALUES (5)", "SELECT catches('\"swallows in the last step\"')"]}]}
{"order": 1, "name": "in time", "timeout": 30, "sql": "INSERT INTO effect VALUES (2)"}
{"order": 1, "name": "beside", "sql": "INSERT INTO effect SELECT 3 FROM pg_sleep(1)"}
{"order": 2, "name": "after", "sql": "INSERT INTO effect VALUES (4)"}
END
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 3 --max-attempts 1 --on-failure continue >/dev/null
case_begin 'an attempt that runs beyond its time-out has failed, also when it catches the cancel'
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
executors 1 "$q" 3
executors_wait || { cat "$tmp/$q".*.log; failed=1; }
expect 'outcomes' \
    "$(sql "SELECT string_agg(t.name || '=' || t.status || '/' || t.attempt_num || '/' || t.lost_num, ' '
                              ORDER BY t.seq)
        FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$run'")" \
    'twice=Failed/2/0 bare=Failed/1/0 deaf=Failed/1/0 swallows=Failed/2/0 swallows bare=Failed/1/0 swallows in a step=Failed/1/0 swallows in the last step=Failed/1/0 in time=Completed/1/0 beside=Completed/1/0 after=Completed/1/0'
expect 'what is told' "$(sql "SELECT DISTINCT sqlstate, error FROM lockstep.execution_log
    WHERE run_id = '$run' AND status <> 'Completed' ORDER BY error")" \
    $'57014|time-out: the attempt ran for longer than 0.2 s\n57014|time-out: the attempt ran for longer than 1 s'

case_begin 'an attempt that caught its cancel has that as its hint'
# 0 of a task that has not caught its cancel: a sequence begins with 1, and is not called then.
silent=$(
    sql <<'SQL'
SELECT t.name, c.caught, c.said
FROM lockstep.task t
CROSS JOIN LATERAL
    (SELECT coalesce(pg_sequence_last_value(to_regclass(format('%I', t.name))), 0) AS caught,
            (SELECT count(*) FROM lockstep.task_attempt a
             WHERE a.task_id = t.task_id AND a.hint LIKE 'Let the task raise query_canceled%') AS said) c
WHERE t.name LIKE 'swallows%' AND c.caught > c.said OR t.name = 'deaf' AND c.said <> 1
SQL
)
expect 'tasks whose attempts caught their cancel, and have no such hint' "$silent" ''
[ -z "$silent" ] || {
    sql 'SELECT t.name, a.* FROM lockstep.task_attempt a JOIN lockstep.task t USING (task_id) ORDER BY t.seq'
    cat "$tmp/$q".*.log
}

case_begin 'an attempt is cancelled in time, and of it nothing is left but steps that were done'
expect 'cancelled in time' "$(sql "SELECT bool_and(l.duration BETWEEN '0.2 s' AND '40 s')
    FROM lockstep.execution_log l JOIN lockstep.task t USING (task_id)
    WHERE run_id = '$run' AND t.name IN ('twice', 'bare')")" t
expect 'effects' "$(sql "SELECT string_agg(n::text, ' ' ORDER BY n) FROM effect")" '2 3 4 6'
cases_end
exit $failed
