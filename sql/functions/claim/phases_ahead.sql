-- How many phases of a queue are claimed and wait to be opened, as far as the lookahead counts them: not those that
-- were claimed while their run was paused, nor those that it had then (run.parked_order). Stops counting at p_enough.
-- p_upto: only of runs that begin at or before this offset.
CREATE OR REPLACE FUNCTION lockstep.phases_ahead(p_queue_id int, p_enough int, p_upto bigint DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    found bigint;
BEGIN
    -- By far the most often nothing is parked: one look at an index.
    IF p_upto IS NULL THEN
        SELECT pg_catalog.count(*) INTO found
        FROM (SELECT FROM lockstep.phase p
              WHERE p.queue_id = p_queue_id AND p.done_at IS NULL AND p.opened_at IS NULL LIMIT p_enough) AS few;
        IF found < p_enough
           OR NOT EXISTS (SELECT FROM lockstep.run r
                          WHERE r.queue_id = p_queue_id AND r.parked_order IS NOT NULL AND r.ended_at IS NULL) THEN
            RETURN found;
        END IF;
    END IF;
    SELECT pg_catalog.count(*) INTO found FROM (
        SELECT FROM lockstep.run r CROSS JOIN LATERAL (
            SELECT FROM lockstep.phase p
            WHERE p.queue_id = p_queue_id AND p.run_no = r.run_no AND p."order" > COALESCE(r.parked_order, -1)
              AND p.done_at IS NULL AND p.opened_at IS NULL LIMIT p_enough) AS of_run
        WHERE r.queue_id = p_queue_id AND r.ended_at IS NULL AND r.first_offset <= COALESCE(p_upto, r.first_offset)
        LIMIT p_enough) AS few;
    RETURN found;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.phases_ahead(int, int, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.phases_ahead(int, int, bigint)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
