-- Up to p_limit tasks of one phase become those of executor p_executor_no. p_unowned: those without an owner. Without
-- p_unowned, or if other sessions hold the rows of all of those: tasks whose owner is none of p_living, and does not
-- live (an executor that has begun since the list was made has tasks already). Returns them in the order of the topic.
-- See adopt, which has S of the phase and its row.
CREATE OR REPLACE FUNCTION lockstep.adopt_take(
    p_phase_id bigint, p_executor_no int, p_limit int, p_unowned boolean, p_is_open boolean, p_living int[],
    p_lacks text[], p_max_lost int)
RETURNS SETOF lockstep.task LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    WITH nobodys AS (
        -- Locked and checked again: another executor that adopts at this moment takes other rows.
        SELECT t.task_id, t.executor_no AS old_owner, t.status AS old_status, t.attempt_num AS old_attempt, t.started_at
        FROM lockstep.task t
        WHERE p_unowned AND t.phase_id + 0 = p_phase_id AND t.executor_no IS NULL -- by task_unowned
          AND lockstep.adoptable(t, p_is_open, p_lacks, p_max_lost)
        ORDER BY t.kafka_offset LIMIT p_limit FOR UPDATE SKIP LOCKED),
    orphans AS (
        SELECT t.task_id, t.executor_no AS old_owner, t.status AS old_status, t.attempt_num AS old_attempt, t.started_at
        FROM lockstep.task t
        WHERE (SELECT n.task_id FROM nobodys n LIMIT 1) IS NULL
          AND t.phase_id = p_phase_id AND t.executor_no <> ALL (p_living)
          AND lockstep.adoptable(t, p_is_open, p_lacks, p_max_lost)
        ORDER BY t.kafka_offset LIMIT p_limit FOR UPDATE SKIP LOCKED),
    dead AS MATERIALIZED (
        SELECT d.old_owner FROM (SELECT DISTINCT o.old_owner FROM orphans o OFFSET 0) d
        WHERE NOT lockstep.executor_lives(d.old_owner)),
    found AS (
        SELECT n.task_id, n.old_owner, n.old_status, n.old_attempt, n.started_at FROM nobodys n
        UNION ALL
        SELECT o.task_id, o.old_owner, o.old_status, o.old_attempt, o.started_at
        FROM orphans o JOIN dead USING (old_owner)),
    lost AS (
        INSERT INTO lockstep.task_attempt (task_id, attempt, status, executor_no, started_at, ended_at, error)
        SELECT f.task_id, f.old_attempt, 'Pending', f.old_owner, f.started_at, pg_catalog.clock_timestamp(),
               'lost: its executor died'
        FROM found f
        WHERE f.old_owner IS NOT NULL AND f.old_status = 'Processing'
        ON CONFLICT DO NOTHING),
    taken AS (
        UPDATE lockstep.task t
        SET executor_no = p_executor_no, token = pg_catalog.gen_random_uuid(), status = 'Pending',
            attempt_num = f.old_attempt + CASE WHEN l.lost OR f.old_status = 'Error' THEN 1 ELSE 0 END,
            lost_num = t.lost_num + CASE WHEN l.lost THEN 1 ELSE 0 END,
            max_attempts = t.max_attempts + CASE WHEN l.lost THEN 1 ELSE 0 END, -- it counts failed ones only
            doubted = CASE WHEN p_is_open AND f.old_owner IS NOT NULL THEN true ELSE t.doubted END,
            updated_at = pg_catalog.clock_timestamp()
        FROM found f CROSS JOIN LATERAL (SELECT f.old_owner IS NOT NULL AND f.old_status = 'Processing' AS lost) AS l
        WHERE t.task_id = f.task_id
        RETURNING t)
    SELECT (k.t).* FROM taken k ORDER BY (k.t).kafka_offset;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.adopt_take(bigint, int, int, boolean, boolean, int[], text[], int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.adopt_take(bigint, int, int, boolean, boolean, int[], text[], int)
    TO lockstep_executor;
