-- Release: this executor runs nothing more of the phase: S goes. If that may have been the last of its run, the run's end is
-- tried: the last executor to come here sees everything that the others committed before. Whether the end is known is asked
-- by run_finish under the lock of the queue's row: a claim that takes the end at this moment has looked for unfinished tasks
-- before ours was finished, and we would not see its end. It may be the last one though later phases were claimed: an operator
-- may have finished all of theirs, and whoever had them has let go before ours was done.
CREATE OR REPLACE FUNCTION lockstep.release(p_phase_id bigint, p_shared boolean, OUT unlocked boolean, OUT ended text)
LANGUAGE plpgsql AS $$
DECLARE
    last_of bigint;
BEGIN
    SELECT r.run_no INTO last_of FROM lockstep.phase p JOIN lockstep.run r USING (run_no)
    WHERE p.phase_id = p_phase_id AND r.ended_at IS NULL
      AND (r.last_phase_id = p_phase_id OR ((r.stop_after IS NOT NULL OR r.reopened_at IS NOT NULL) AND r.end_offset IS NOT NULL)
           OR (r.end_offset IS NOT NULL AND NOT EXISTS (
                   SELECT FROM lockstep.phase l JOIN lockstep.task t USING (phase_id)
                   WHERE l.run_no = r.run_no AND l."order" > p."order" AND l.done_at IS NULL
                     AND t.status NOT IN ('Completed', 'Failed', 'Cancelled', 'Terminated', 'PartiallyCompleted'))));
    IF FOUND THEN
        ended := lockstep.run_finish(last_of);
    END IF;
    unlocked := NOT p_shared OR lockstep.unlock_shared(p_phase_id);
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.release TO lockstep_executor;
