-- These enqueued runs are on the topic, the next unknown offset of which is p_next_offset (NULL: not known yet). Found
-- there by a relay that begins (p_next_offset is NULL for them: where each ends is not known), or just committed: their
-- last record is right before it. After a fail-over or a restore, those that have no row are runs that the database has
-- forgotten: they are kept until the cursor is behind them. Returns how many they were.
CREATE OR REPLACE FUNCTION lockstep.enqueue_sent(p_queue_id int, p_runs uuid[], p_next_offset bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    NOT_SEEN CONSTANT bigint := 9223372036854775807; -- as enqueue_begin
    count bigint;
BEGIN
    IF EXISTS (SELECT FROM lockstep.relay y
               WHERE y.queue_id = p_queue_id AND y.kind = 'enqueue' AND y.undone_until = NOT_SEEN) THEN
        INSERT INTO lockstep.enqueue_undone (queue_id, run_id)
        SELECT p_queue_id, u
        FROM pg_catalog.unnest(p_runs) AS u
        WHERE NOT EXISTS (SELECT FROM lockstep.run r WHERE r.queue_id = p_queue_id AND r.run_id = u)
        ON CONFLICT DO NOTHING;
        UPDATE lockstep.relay y SET undone_until = p_next_offset
        WHERE y.queue_id = p_queue_id AND y.kind = 'enqueue' AND p_next_offset IS NOT NULL;
    END IF;
    UPDATE lockstep.relay SET next_offset = p_next_offset
    WHERE queue_id = p_queue_id AND kind = 'enqueue' AND next_offset < p_next_offset;
    WITH gone AS (
        DELETE FROM lockstep.enqueued e WHERE e.queue_id = p_queue_id AND e.run_id = ANY (p_runs)
        RETURNING e.run_no, e.phases, pg_catalog.cardinality(e.messages) - 1 AS tasks),
    noted AS (
        UPDATE lockstep.run r SET published_at = pg_catalog.clock_timestamp(), publish_acked_offset = p_next_offset - 1
        FROM gone g WHERE r.run_no = g.run_no),
    logged AS (
        INSERT INTO lockstep.event_log (event, queue_id, run_no, detail)
        SELECT 'run_published', p_queue_id, g.run_no,
               pg_catalog.format('%s in %s', lockstep.counted(g.tasks, 'task'), lockstep.counted(g.phases, 'phase'))
        FROM gone g ORDER BY g.run_no)
    SELECT pg_catalog.count(*) INTO count FROM gone;
    RETURN count;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.enqueue_sent(int, uuid[], bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.enqueue_sent(int, uuid[], bigint) TO lockstep_executor;
