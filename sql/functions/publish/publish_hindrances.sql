-- The obstacles for which a run that is published to this queue does not run, with their remedies: the queue is held,
-- or an earlier run waits for an end that may never come. With the rights of the owner, because a producer may not read
-- all of that.
CREATE OR REPLACE FUNCTION lockstep.publish_hindrances(p_queue_id int, OUT sentence text, OUT helps text)
RETURNS SETOF record
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_hashjoin = off SET jit = off AS $$
DECLARE
    r record;
BEGIN
    RETURN QUERY
    SELECT e.sentence, e.helps FROM lockstep.explain_halted(p_queue_id) AS e;
    FOR r IN SELECT b.run_no, b.implicit FROM lockstep.run b JOIN lockstep.queue q USING (queue_id)
             WHERE b.queue_id = p_queue_id AND q.runs = 'serial' AND b.ended_at IS NULL AND b.cancelled_at IS NULL
               AND b.first_offset IS NOT NULL AND b.end_offset IS NULL ORDER BY b.first_offset LOOP
        IF r.implicit OR lockstep.run_endless(r.run_no) THEN
            RETURN QUERY
            SELECT format('run %s, which began at offset %s, has not ended, and this run waits for it: %s', b.run_id,
                          b.first_offset, e.why),
                   (lockstep.explain_row(e.reason, '', '', NULL, ARRAY['QUEUE', q.name, 'RUN', b.run_id::text])).helps
            FROM lockstep.run b JOIN lockstep.queue q USING (queue_id), lockstep.explain_end(r.run_no) AS e
            WHERE b.run_no = r.run_no;
        END IF;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.publish_hindrances(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.publish_hindrances(int) TO lockstep_executor, lockstep_producer, lockstep_operator;
