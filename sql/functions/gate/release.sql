-- Release: this executor runs nothing more of the phase: S goes. If that may have been the last of its run, the run's
-- end is
-- tried: the last executor to come here sees everything that the others committed before. Whether the end is known is
-- asked by run_finish under the lock of the queue's row: a claim that takes the end at this moment has looked for
-- unfinished tasks before ours was finished, and we would not see its end. It may be the last one though later phases
-- were claimed: an operator may have finished all of theirs, and whoever had them has let go before ours was done.
-- The barrier's short way: if no other executor has S of the phase or waits for IX of it, the caller opens the next
-- phase at once. Otherwise the caller's gate, or the gate that waits already, opens it.
--   p_followed: the caller has a later phase of the run in hand, and comes here for that one, too.
--   p_intent:   the phase before, if the caller's session has IX of it.
--   p_next:     the run's oldest phase that the caller has tasks of and has not seen open; only with
--               p_followed, because an opening holds no row of a queue. The rest of the answer is lockstep.gate's.
CREATE OR REPLACE FUNCTION lockstep.release(
    p_phase_id bigint, p_shared boolean, p_followed boolean DEFAULT false, p_intent bigint DEFAULT NULL,
    p_next bigint DEFAULT NULL, OUT unlocked boolean, OUT ended text, OUT verdict text, OUT phase_id bigint,
    OUT previous_phase_id bigint, OUT definitions bigint, OUT conditional boolean, OUT tells boolean)
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
               OR ((r.stop_after IS NOT NULL OR r.reopened_at IS NOT NULL) AND r.end_offset IS NOT NULL)
               OR (r.end_offset IS NOT NULL
                   AND NOT EXISTS (SELECT FROM lockstep.phase l
                                   CROSS JOIN LATERAL ( -- as in run_finish
                                       SELECT FROM lockstep.task t
                                       WHERE t.phase_id = l.phase_id AND NOT lockstep.is_finished(t.status) LIMIT 1) t
                                   WHERE l.run_no = r.run_no AND l."order" > p."order" AND l.done_at IS NULL)));
        IF FOUND THEN
            ended := lockstep.run_finish(last_of);
        END IF;
    END IF;
    IF p_next IS NOT NULL AND p_followed THEN -- our own S is not in its way
        SELECT g.verdict, g.phase_id, g.previous_phase_id, g.definitions, g.conditional, g.tells
        INTO verdict, phase_id, previous_phase_id, definitions, conditional, tells
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
