-- One firing: decides the schedule that is due and is longest so, in a transaction of its own. Whoever holds the lock of dispatch calls it until nothing is
-- due; what makes it safe is the job's row, which it has locked, and the one occurrence that a scheduled time may have. A job that somebody is changing is
-- passed over for now. An error is written, and the schedule goes on: it does not keep the others.
--   verdict   NULL: nothing is due, wait_ms (NULL: until something happens) is how long; error; otherwise as job_decide
CREATE OR REPLACE FUNCTION lockstep.dispatch(p_by text, p_now timestamptz DEFAULT NULL,
    OUT verdict text, OUT job text, OUT schedule text, OUT scheduled_for timestamptz, OUT run uuid, OUT reason text, OUT wait_ms bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off
    SET lock_timeout = '1s' AS $$
#variable_conflict use_column
DECLARE
    HELD_MS CONSTANT bigint := 200;
    AGAIN CONSTANT interval := interval '2 seconds';
    now CONSTANT timestamptz := COALESCE(p_now, clock_timestamp());
    due lockstep.schedule;
    own lockstep.job;
    decided record;
    next timestamptz;
BEGIN
    SELECT s.schedule_id, s.job_id INTO due.schedule_id, due.job_id
    FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
    WHERE s.is_active AND s.wake_at <= now ORDER BY s.wake_at LIMIT 1 FOR NO KEY UPDATE OF j SKIP LOCKED;
    IF NOT FOUND THEN
        SELECT min(s.wake_at) INTO next FROM lockstep.schedule s WHERE s.is_active AND s.wake_at IS NOT NULL;
        wait_ms := CASE WHEN next <= now THEN HELD_MS WHEN next > now THEN LEAST(ceil(date_part('epoch', next - now) * 1000), 2000000000) END;
        RETURN;
    END IF;
    SELECT j.* INTO own FROM lockstep.job j WHERE j.job_id = due.job_id;
    SELECT s.* INTO due FROM lockstep.schedule s WHERE s.schedule_id = due.schedule_id;
    job := own.name;
    schedule := due.name;
    BEGIN
        decided := lockstep.job_decide(own, due, now);
        IF decided.verdict = 'wait' AND decided.wake_at <= now THEN -- never at once: who calls goes on until nothing is due
            decided.wake_at := now + AGAIN;
        END IF;
        verdict := decided.verdict;
        scheduled_for := decided.scheduled_for;
        reason := decided.reason;
        run := lockstep.job_act(own, due, decided, p_by);
    EXCEPTION
        WHEN lock_not_available OR deadlock_detected OR serialization_failure THEN -- another session is in the way, which is nothing that the job has done
            verdict := 'wait';
            reason := SQLERRM;
            UPDATE lockstep.schedule s SET wake_at = now + AGAIN WHERE s.schedule_id = due.schedule_id;
        WHEN OTHERS THEN
            verdict := 'error';
            reason := SQLERRM;
            run := NULL;
            PERFORM lockstep.job_failed(own, due, scheduled_for, p_by, concat_ws(': ', SQLSTATE, SQLERRM));
    END;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.dispatch(text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.dispatch(text, timestamptz) TO lockstep_executor;
