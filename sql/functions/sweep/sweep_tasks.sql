-- Deletes at most p_rows finished tasks of a run that is being swept, with their attempts, and counts them into its
-- summary, which also says where the next batch begins. The keys of tasks that did not succeed are free again (key_take
-- would have reassigned them); the other keys stay taken.
--   deleted   the number of tasks; fewer than p_rows: there are no more to delete
--   locked    there are more, and other sessions have locked them
CREATE OR REPLACE FUNCTION lockstep.sweep_tasks(p_run_no bigint, p_rows int, OUT deleted bigint, OUT locked boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    phase_row record;
    summary_row record;
    chosen bigint[] := '{}';
    keyed bigint[];
BEGIN
    SELECT b.upto_order, COALESCE(b.upto_offset, -1) AS upto_offset INTO STRICT summary_row
    FROM lockstep.run_summary b WHERE b.run_no = p_run_no;
    FOR phase_row IN SELECT h.phase_id FROM lockstep.phase h
             WHERE h.run_no = p_run_no AND h."order" >= COALESCE(summary_row.upto_order, 0) ORDER BY h."order" LOOP
        chosen := chosen || ARRAY(
            SELECT t.task_id FROM lockstep.task t
            WHERE t.phase_id = phase_row.phase_id AND t.kafka_offset > summary_row.upto_offset
              AND lockstep.is_finished(t.status)
            ORDER BY t.kafka_offset LIMIT p_rows - pg_catalog.cardinality(chosen) FOR UPDATE SKIP LOCKED);
        EXIT WHEN pg_catalog.cardinality(chosen) >= p_rows;
    END LOOP;
    -- A claim that takes such a key over at this moment has it locked, and holds the queue's row: then the task is for
    -- the next time.
    keyed := ARRAY(SELECT i.task_id
                   FROM lockstep.task t JOIN lockstep.idempotency_key i ON (i.queue_id, i.key) = (t.queue_id, t.key)
                   WHERE t.task_id = ANY (chosen) AND i.task_id = t.task_id AND lockstep.frees_key(t.status)
                   FOR UPDATE OF i SKIP LOCKED);
    chosen := ARRAY(SELECT t.task_id
                    FROM lockstep.task t
                    WHERE t.task_id = ANY (chosen)
                      AND (t.key IS NULL OR NOT lockstep.frees_key(t.status) OR t.task_id = ANY (keyed)
                           OR NOT EXISTS (SELECT FROM lockstep.idempotency_key i
                                          WHERE (i.queue_id, i.key) = (t.queue_id, t.key) AND i.task_id = t.task_id)));
    DELETE FROM lockstep.idempotency_key i USING lockstep.task t
    WHERE t.task_id = ANY (keyed) AND (i.queue_id, i.key) = (t.queue_id, t.key) AND i.task_id = t.task_id;
    WITH attempts AS (DELETE FROM lockstep.task_attempt a WHERE a.task_id = ANY (chosen) RETURNING a.task_id),
    gone AS (
        DELETE FROM lockstep.task t
        WHERE t.task_id = ANY (chosen) RETURNING t.status, t.duration, t."order", t.kafka_offset),
    sums AS (
        SELECT pg_catalog.count(*) AS tasks, pg_catalog.count(*) FILTER (WHERE g.status = 'Completed') AS completed,
               pg_catalog.count(*) FILTER (WHERE lockstep.is_failed(g.status)) AS failed,
               pg_catalog.count(*) FILTER (WHERE g.status = 'Cancelled') AS cancelled,
               COALESCE(pg_catalog.sum(g.duration), '0') AS busy, pg_catalog.max(g."order") AS upto_order,
               pg_catalog.max(g.kafka_offset) AS upto_offset
        FROM gone g)
    UPDATE lockstep.run_summary b
    SET tasks = b.tasks + x.tasks, completed = b.completed + x.completed, failed = b.failed + x.failed,
        cancelled = b.cancelled + x.cancelled, busy = b.busy + x.busy,
        attempts = b.attempts + (SELECT pg_catalog.count(*) FROM attempts),
        upto_order = COALESCE(x.upto_order, b.upto_order), upto_offset = COALESCE(x.upto_offset, b.upto_offset)
    FROM sums x WHERE b.run_no = p_run_no;
    deleted := pg_catalog.cardinality(chosen);
    -- Usually the count is that of the run, and no query has to read the rows that were deleted just now and are still
    -- in the index.
    locked := deleted < p_rows
              AND EXISTS (SELECT FROM lockstep.run_summary b JOIN lockstep.run r USING (run_no)
                          WHERE b.run_no = p_run_no AND b.tasks <> r.tasks)
              AND EXISTS (SELECT FROM lockstep.phase h
                          CROSS JOIN LATERAL (SELECT FROM lockstep.task t WHERE t.phase_id = h.phase_id LIMIT 1) t
                          WHERE h.run_no = p_run_no);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.sweep_tasks(bigint, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.sweep_tasks(bigint, int) TO lockstep_executor;
