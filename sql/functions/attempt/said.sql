-- Records the rows and the notices of attempts that have ended, one element for each. An executor calls this behind the
-- end, which is recorded already. The rows are locked in the order of the ids, as by every function that locks several
-- tasks.
CREATE OR REPLACE FUNCTION lockstep.said(p_task_ids bigint[], p_attempts int[], p_rows bigint[], p_notices text[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    s record;
BEGIN
    FOR s IN
        SELECT u.task_id, u.attempt, u.rows, u.notices
        FROM ROWS FROM (pg_catalog.unnest(p_task_ids), pg_catalog.unnest(p_attempts), pg_catalog.unnest(p_rows),
                        pg_catalog.unnest(p_notices)) AS u (task_id, attempt, rows, notices)
        ORDER BY u.task_id, u.attempt
    LOOP
        UPDATE lockstep.task_attempt a SET rows = s.rows, notices = s.notices
        WHERE a.task_id = s.task_id AND a.attempt = s.attempt;
        IF NOT FOUND THEN
            UPDATE lockstep.task t SET rows = s.rows, notices = s.notices, updated_at = pg_catalog.clock_timestamp()
            WHERE t.task_id = s.task_id AND t.attempt_num = s.attempt AND t.status = 'Completed';
        END IF;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.said(bigint[], int[], bigint[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.said(bigint[], int[], bigint[], text[]) TO lockstep_executor;
