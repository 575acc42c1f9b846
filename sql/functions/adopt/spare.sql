-- These attempts of executor p_executor_id, which lost its sessions and lives on, were ended by an operator, by a
-- planned end of the server or by the executor itself. They do not count as lost. If another executor has adopted a
-- task in between, it has counted the attempt: this count is undone. Otherwise the row keeps its owner, because a
-- statement of the attempt may still be running: adopt waits for that. A row that another session holds is passed over,
-- because the executor serves no queue until this call has ended: its attempt counts as lost, once.
CREATE OR REPLACE FUNCTION lockstep.spare(p_executor_id uuid, p_task_ids bigint[], p_tokens uuid[], p_attempts int[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    attempt_row record;
    own CONSTANT int := (SELECT e.executor_no FROM lockstep.executor e WHERE e.executor_id = p_executor_id);
    -- In the order of their ids, as run_stop does, so that the two cannot deadlock.
    free CONSTANT bigint[] := ARRAY(SELECT t.task_id FROM lockstep.task t WHERE t.task_id = ANY (p_task_ids)
                                    ORDER BY t.task_id FOR NO KEY UPDATE SKIP LOCKED);
BEGIN
    -- One by one, as in mark_processing.
    FOR attempt_row IN
        SELECT u.task_id, u.token, u.attempt
        FROM ROWS FROM (pg_catalog.unnest(p_task_ids), pg_catalog.unnest(p_tokens),
                        pg_catalog.unnest(p_attempts)) AS u (task_id, token, attempt)
        WHERE u.task_id = ANY (free)
    LOOP
        UPDATE lockstep.task_attempt a SET error = 'ended with the sessions of its executor'
        WHERE a.task_id = attempt_row.task_id AND a.attempt = attempt_row.attempt AND a.executor_no = own
          AND a.status = 'Pending' AND a.error = 'lost: its executor died';
        IF FOUND THEN
            UPDATE lockstep.task t SET lost_num = t.lost_num - 1
            WHERE t.task_id = attempt_row.task_id AND t.lost_num > 0 AND lockstep.is_ownable(t.status);
        END IF;
        WITH hit AS (
            UPDATE lockstep.task t
            SET status = 'Pending', attempt_num = t.attempt_num + 1, max_attempts = t.max_attempts + 1,
                updated_at = pg_catalog.clock_timestamp()
            WHERE t.task_id = attempt_row.task_id AND t.token = attempt_row.token AND t.status = 'Processing'
            RETURNING t.task_id, t.attempt_num - 1 AS attempt, t.executor_no, t.started_at)
        INSERT INTO lockstep.task_attempt (task_id, attempt, status, executor_no, started_at, ended_at, error)
        SELECT h.task_id, h.attempt, 'Pending', h.executor_no, h.started_at, pg_catalog.clock_timestamp(),
               'ended with the sessions of its executor'
        FROM hit h ON CONFLICT DO NOTHING;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.spare(uuid, bigint[], uuid[], int[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.spare(uuid, bigint[], uuid[], int[]) TO lockstep_executor;
