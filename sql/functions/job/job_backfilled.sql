-- The firing of a time of a range for which a token was taken (lockstep.job_backfill_ask): whether it fires is decided
-- once more, because the query took its time. LS004: it does not fire any more.
CREATE OR REPLACE FUNCTION lockstep.job_backfilled(p_job lockstep.job, p_ask lockstep.job_ask, p_tasks jsonb[])
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    due CONSTANT lockstep.schedule := (SELECT s FROM lockstep.schedule s WHERE s.schedule_id = p_ask.fills);
    decided record;
BEGIN
    PERFORM lockstep.job_isolation(NULL);
    decided := lockstep.job_backfill_decide(p_job, due, p_ask.scheduled_for, p_ask.fills_overlap);
    IF decided.action IS DISTINCT FROM 'fire' THEN
        RAISE EXCEPTION 'the time % does not fire any more: %', lockstep.job_time(p_ask.scheduled_for),
                        COALESCE(decided.detail, 'it was fired meanwhile')
            USING ERRCODE = 'LS004', HINT = 'Run the same command again: no time fires twice.';
    END IF;
    RETURN lockstep.job_backfill_fire(p_job, due, p_ask.scheduled_for, p_ask.source, p_tasks);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_backfilled(lockstep.job, lockstep.job_ask, jsonb[]) FROM PUBLIC;
