-- Rows of these tables (NULL: of any that is watched) have changed: their triggers are looked at within a second, but for those whose looks fail, and those that somebody
-- is changing. Nor is one looked at before min_between is over. While its job's run is open it would be in vain: the look is due then, and the end of the run wakes it; that the run
-- may be ending just now is why it is decided once more all the same, a little later.
CREATE OR REPLACE FUNCTION lockstep.dispatch_rows(p_relations oid[]) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    UPDATE lockstep.schedule s SET next_at = d.at, wake_at = CASE WHEN d.is_held THEN LEAST(s.wake_at, GREATEST(d.at, now() + interval '5 seconds')) ELSE d.at END
    FROM (SELECT b.schedule_id, GREATEST(now(), (b.look).at + interval '1 second', b.fired_at + (b.rows_rule).min_between) AS at,
                 j.overlap <> 'allow' AND EXISTS (SELECT FROM lockstep.run r WHERE r.job_id = b.job_id AND r.ended_at IS NULL) AS is_held
          FROM lockstep.schedule b JOIN lockstep.job j USING (job_id)
          WHERE (b.rows_rule).relation IS NOT NULL AND b.is_active AND b.asked_until IS NULL AND (b.look).error IS NULL AND (b.rows_rule).relation = ANY (CASE
              WHEN p_relations IS NOT NULL THEN ARRAY(SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = ANY (p_relations))
              ELSE ARRAY(SELECT (a.rows_rule).relation FROM lockstep.schedule a WHERE (a.rows_rule).relation IS NOT NULL AND a.is_active
                         AND lockstep.is_watched(lockstep.job_relation((a.rows_rule).relation))) END)
          FOR NO KEY UPDATE OF b SKIP LOCKED) d
    WHERE s.schedule_id = d.schedule_id AND CASE WHEN d.is_held THEN s.next_at ELSE s.wake_at END > d.at
$$;
REVOKE EXECUTE ON FUNCTION lockstep.dispatch_rows(oid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.dispatch_rows(oid[]) TO lockstep_executor;
