-- Release: this executor runs no more tasks of the phase, and its S is released. If the phase may have been the last
-- one of its run, the end of the run is tried: the last executor that calls this sees all changes that the others
-- committed before. run_finish checks under the lock of the queue's row whether the end is known, because a claim that
-- takes the end at this moment has searched for unfinished tasks before this task was finished, and this function would
-- not see its end: no condition here may ask for it. The phase may be the last one although later phases were claimed:
-- an operator may have finished all of their tasks, and the executors that had them released theirs before this task
-- was done.
-- The short way through the barrier: if no other executor has S of the phase or waits for IX of it, the caller opens
-- the next phase at once. Otherwise the caller's gate, or the gate that waits already, opens it.
--   p_followed: the caller has a later phase of the run and calls this for that one, too.
--   p_intent:   the phase before, if the caller's session has IX of it.
--   p_next:     the run's oldest phase of which the caller has tasks and which it has not seen open; only with
--               p_followed, because an opening holds no row of a queue. The other columns of the answer are those of
--               lockstep.gate.
CREATE OR REPLACE FUNCTION lockstep.release(
    p_phase_id bigint, p_shared boolean, p_followed boolean DEFAULT false, p_intent bigint DEFAULT NULL,
    p_next bigint DEFAULT NULL, OUT unlocked boolean, OUT ended text, OUT verdict text, OUT phase_id bigint,
    OUT previous_phase_id bigint, OUT definitions bigint, OUT conditional boolean, OUT events_wait boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    last_of bigint;
BEGIN
    IF NOT p_followed THEN
        SELECT r.run_no INTO last_of
        FROM lockstep.phase p JOIN lockstep.run r USING (run_no)
        WHERE p.phase_id = p_phase_id AND r.ended_at IS NULL
          AND (r.last_phase_id = p_phase_id OR r.cancelled_at IS NOT NULL
               OR r.stop_after IS NOT NULL OR r.reopened_at IS NOT NULL
               OR NOT EXISTS (SELECT FROM lockstep.phase l
                              CROSS JOIN LATERAL ( -- as in run_finish
                                  SELECT FROM lockstep.task t
                                  WHERE t.phase_id = l.phase_id AND NOT lockstep.is_finished(t.status) LIMIT 1) t
                              WHERE l.run_no = r.run_no AND l."order" > p."order" AND l.done_at IS NULL));
        IF FOUND THEN
            ended := lockstep.run_finish(last_of);
        END IF;
    END IF;
    IF p_next IS NOT NULL AND p_followed THEN -- our own S is not in its way
        SELECT g.verdict, g.phase_id, g.previous_phase_id, g.definitions, g.conditional, g.events_wait
        INTO verdict, phase_id, previous_phase_id, definitions, conditional, events_wait
        FROM lockstep.gate(p_next, 0) AS g;
    END IF;
    -- Last, because it is not undone when a statement of this transaction fails.
    unlocked := NOT p_shared OR lockstep.unlock_shared(p_phase_id);
    IF p_intent IS NOT NULL AND NOT lockstep.unlock_intent(p_intent) THEN
        RAISE EXCEPTION 'phase %: its IX was not held', p_intent;
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.release TO lockstep_executor;
