-- Rejected messages between these offsets were deleted: a replay does not take what it finds there for messages that have no row yet.
CREATE OR REPLACE FUNCTION lockstep.sweep_rejected(p_queue_id int, p_first bigint, p_last bigint) RETURNS void LANGUAGE sql AS $$
    INSERT INTO lockstep.retention AS t (queue_id, rejected)
    SELECT p_queue_id, pg_catalog.int8range(p_first, p_last, '[]') WHERE p_first IS NOT NULL
    ON CONFLICT (queue_id) DO UPDATE SET rejected = pg_catalog.range_merge(COALESCE(t.rejected, EXCLUDED.rejected), EXCLUDED.rejected)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.sweep_rejected(int, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.sweep_rejected(int, bigint, bigint) TO lockstep_executor;
