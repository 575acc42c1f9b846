-- Rejected messages of this reading of the topic between these offsets were deleted: a replay does not take what it
-- finds there for messages that have no row yet. Those of another reading say nothing of this one.
CREATE OR REPLACE FUNCTION lockstep.sweep_rejected(p_queue_id int, p_first bigint, p_last bigint) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO lockstep.retention AS t (queue_id, epoch, rejected)
    SELECT p_queue_id, q.epoch, pg_catalog.int8range(p_first, p_last, '[]')
    FROM lockstep.queue q
    WHERE q.queue_id = p_queue_id AND p_first IS NOT NULL
    ON CONFLICT (queue_id) DO UPDATE SET
        rejected = CASE WHEN t.epoch = EXCLUDED.epoch
                            THEN pg_catalog.range_merge(COALESCE(t.rejected, EXCLUDED.rejected), EXCLUDED.rejected)
                        ELSE EXCLUDED.rejected END,
        epoch = EXCLUDED.epoch
$$;
REVOKE EXECUTE ON FUNCTION lockstep.sweep_rejected(int, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.sweep_rejected(int, bigint, bigint) TO lockstep_executor;
