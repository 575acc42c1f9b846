-- Shows that these attempts are running; returns the tasks of those that it has marked. One by one: of a list the
-- planner may take the whole table for as good as a look-up for each.
CREATE OR REPLACE FUNCTION lockstep.mark_processing(
    p_task_ids bigint[], p_tokens uuid[], p_ages_us bigint[], p_pids int[])
RETURNS SETOF bigint LANGUAGE plpgsql AS $$
DECLARE
    task_row record;
BEGIN
    FOR task_row IN
        SELECT g.task_id, g.token, g.age_us, g.pid
        FROM ROWS FROM (pg_catalog.unnest(p_task_ids), pg_catalog.unnest(p_tokens), pg_catalog.unnest(p_ages_us),
                        pg_catalog.unnest(p_pids)) AS g (task_id, token, age_us, pid)
    LOOP
        -- Not waited for: an attempt that is being completed right now needs no mark.
        PERFORM FROM lockstep.task t
        WHERE t.task_id = task_row.task_id AND t.token = task_row.token AND lockstep.is_processable(t.status)
        FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        UPDATE lockstep.task t
        SET status = 'Processing',
            started_at = pg_catalog.clock_timestamp() - task_row.age_us * interval '1 microsecond',
            updated_at = pg_catalog.clock_timestamp(), backend_pid = task_row.pid
        WHERE t.task_id = task_row.task_id;
        RETURN NEXT task_row.task_id;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.mark_processing(bigint[], uuid[], bigint[], int[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.mark_processing(bigint[], uuid[], bigint[], int[]) TO lockstep_executor;
