-- The implicit run that a replay was filling ends at this offset: the messages from there on belong to another run, or
-- the range is at its end. It does not end if it is the run that is open at the live end of the queue: that continues
-- there.
CREATE OR REPLACE FUNCTION lockstep.replay_close(p_replay_id int, p_offset bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    open_run bigint;
BEGIN
    SELECT r.run_no INTO open_run
    FROM lockstep.replay y
    JOIN lockstep.run r ON r.run_no = y.implicit_run_no JOIN lockstep.queue q ON q.queue_id = y.queue_id
    WHERE y.replay_id = p_replay_id AND r.end_offset IS NULL AND q.implicit_run_no IS DISTINCT FROM r.run_no;
    IF FOUND THEN
        UPDATE lockstep.run SET end_offset = p_offset WHERE run_no = open_run;
        PERFORM lockstep.run_finish(open_run);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.replay_close(int, bigint) FROM PUBLIC;
