-- Fires the times of a job from `from` until `to` that no occurrence has fired, of schedules with the same time
-- once, oldest first, in the caller's transaction; at most 1000 times at once.
-- schedule: only of this one, which may be disabled. overlap: the rule while a run of the job is open: allow fires
-- nevertheless; queue_one leaves the rest to the next call, so a caller repeats it until no time waits; skip leaves
-- these times unfired. dry_run only reports. Times that the dispatcher has yet to decide are left to it. A time that
-- was fired is not fired again, and its run has the id that it always has: neither a second call nor a dispatcher at
-- work doubles a run.
-- The times of a job with a query wait for a dispatcher, which has a session of the tasks' login
-- (lockstep.job_requests): it fires all of them, with queue_one one after the other, and a caller repeats nothing.
--   action  fire, wait (queue_one), skip, leave (to the dispatcher), request (to a dispatcher); detail why
CREATE OR REPLACE FUNCTION lockstep.job_backfill(
    job text, "from" timestamptz, "to" timestamptz, schedule text DEFAULT NULL, overlap text DEFAULT 'queue_one',
    dry_run boolean DEFAULT false)
RETURNS TABLE (schedule_name text, scheduled_for timestamptz, action text, detail text, run_id uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own CONSTANT lockstep.job := lockstep.job_named(job_backfill.job, NULL, true);
BEGIN
    RETURN QUERY
    SELECT b.schedule_name, b.scheduled_for, b.action, b.detail, b.run_id
    FROM lockstep.job_backfill_act(own, job_backfill."from", job_backfill."to", job_backfill.schedule,
                                   job_backfill.overlap, job_backfill.dry_run) b;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_backfill(text, timestamptz, timestamptz, text, text, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_backfill(text, timestamptz, timestamptz, text, text, boolean)
    TO lockstep_operator;
