-- As lockstep.job_backfill, for a caller that has a session of the tasks' login, too: a job with a query is not
-- refused. The first of its times that may fire has the action ask, and a token with which the caller runs the query
-- in the transaction of lockstep.fire.
CREATE OR REPLACE FUNCTION lockstep.job_backfill_ask(
    p_job text, p_from timestamptz, p_to timestamptz, p_schedule text, p_overlap text, p_behind timestamptz)
RETURNS TABLE (schedule_name text, scheduled_for timestamptz, action text, detail text, run_id uuid, token uuid,
               query text, words jsonb)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT b.schedule_name, b.scheduled_for, b.action, b.detail, b.run_id, b.token, b.query, b.words
    FROM lockstep.job_backfill_act(lockstep.job_named(p_job, NULL, true), p_from, p_to, p_schedule, p_overlap,
                                   p_dry_run => false, p_asks => true, p_behind => p_behind) b
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_backfill_ask(text, timestamptz, timestamptz, text, text, timestamptz)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_backfill_ask(text, timestamptz, timestamptz, text, text, timestamptz)
    TO lockstep_operator;
