-- The number of the run with this id; queue NULL: of any queue, if only one has it. LS003: there is none, or several.
CREATE OR REPLACE FUNCTION lockstep.run_named(p_run_id uuid, p_queue text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    found bigint[];
BEGIN
    found := ARRAY(SELECT r.run_no FROM lockstep.run r JOIN lockstep.queue q USING (queue_id)
                   WHERE r.run_id = p_run_id AND (p_queue IS NULL OR q.name = p_queue) LIMIT 2);
    IF pg_catalog.cardinality(found) = 1 THEN
        RETURN found[1];
    ELSIF found = '{}' THEN
        RAISE EXCEPTION 'there is no run %',
                        pg_catalog.concat_ws(' in queue ', COALESCE(p_run_id::text, 'without an id'), p_queue)
            USING ERRCODE = 'LS003', HINT = 'lockstep run list';
    END IF;
    RAISE EXCEPTION 'several queues have a run %', p_run_id USING ERRCODE = 'LS003', HINT = 'Name the queue.';
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_named(uuid, text) FROM PUBLIC;
