-- A run begins in the middle, and nothing that was rejected accounts for it: the queue is halted. Returns why. See
-- claim.
CREATE OR REPLACE FUNCTION lockstep.claim_unknown_run(
    p_queue_id int, p_executor_no int, p_run uuid, p_seq bigint, p_offset bigint)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    why text;
BEGIN
    UPDATE lockstep.queue
    SET halted_reason = 'unknown_run', halted_at = pg_catalog.clock_timestamp(), unknown_at = p_offset,
        halted_detail = pg_catalog.format(
            'offset %s belongs to run %s, of which %s, but has seq %s and not 0: '
                'the topic was created again, its beginning is lost, or its producer does not count from 0',
            p_offset, p_run,
            CASE WHEN EXISTS (SELECT FROM lockstep.run r WHERE r.queue_id = p_queue_id AND r.run_id = p_run)
                     THEN 'no message is claimed'
                 ELSE 'nothing is known' END,
            p_seq)
    WHERE queue_id = p_queue_id RETURNING halted_detail INTO why;
    INSERT INTO lockstep.event_log (event, queue_id, executor_no, detail)
    VALUES ('queue_halted', p_queue_id, p_executor_no, 'unknown_run: ' || why);
    PERFORM pg_catalog.pg_notify('lockstep_' || p_queue_id, 'control');
    RETURN why;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.claim_unknown_run TO lockstep_executor;
