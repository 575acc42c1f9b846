-- Rows of these tables (NULL: of any that is watched) have changed: their triggers are looked at within a second, but
-- for those whose looks fail, and those that another session is changing. Nor is one looked at before min_between is
-- over. While its job's run is open it would be in vain: the look is due then, and the end of the run wakes it; that
-- the run may be ending just now is why it is decided once more all the same, a little later. Returns whether another
-- session held one of them, which is not to be looked at for a while: the caller asks again.
CREATE OR REPLACE FUNCTION lockstep.dispatch_rows(p_relations oid[]) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    WITH watched AS MATERIALIZED (
        SELECT b.schedule_id, LEAST(b.next_at, b.wake_at) > now() AS sleeps FROM lockstep.schedule b
        WHERE (b.rows_rule).relation IS NOT NULL AND b.is_active AND b.asked_until IS NULL AND (b.look).error IS NULL
          AND (b.rows_rule).relation = ANY (CASE
              WHEN p_relations IS NOT NULL THEN ARRAY(
                  SELECT format('%I.%I', n.nspname, c.relname)
                  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = ANY (p_relations))
              ELSE ARRAY(SELECT (a.rows_rule).relation FROM lockstep.schedule a
                         WHERE (a.rows_rule).relation IS NOT NULL AND a.is_active
                           AND lockstep.is_watched(lockstep.job_relation((a.rows_rule).relation))) END)
    ), free AS MATERIALIZED (
        SELECT b.schedule_id,
               GREATEST(now(), (b.look).at + interval '1 second', b.fired_at + (b.rows_rule).min_between) AS at,
               j.overlap <> 'allow' AND EXISTS (
                   SELECT FROM lockstep.run r WHERE r.job_id = b.job_id AND r.ended_at IS NULL) AS is_held
        FROM lockstep.schedule b JOIN lockstep.job j USING (job_id)
        WHERE b.schedule_id = ANY (ARRAY(SELECT w.schedule_id FROM watched w))
          AND b.is_active AND b.asked_until IS NULL AND (b.look).error IS NULL
        FOR NO KEY UPDATE OF b SKIP LOCKED
    ), woken AS (
        UPDATE lockstep.schedule s
        SET next_at = f.at,
            wake_at = CASE WHEN f.is_held THEN LEAST(s.wake_at, GREATEST(f.at, now() + interval '5 seconds'))
                           ELSE f.at END
        FROM free f
        WHERE s.schedule_id = f.schedule_id AND CASE WHEN f.is_held THEN s.next_at ELSE s.wake_at END > f.at
    )
    SELECT EXISTS (SELECT FROM watched w WHERE w.sleeps AND NOT EXISTS (
        SELECT FROM free f WHERE f.schedule_id = w.schedule_id))
$$;
REVOKE EXECUTE ON FUNCTION lockstep.dispatch_rows(oid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.dispatch_rows(oid[]) TO lockstep_executor;
