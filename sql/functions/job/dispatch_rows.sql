-- Rows of these tables (NULL: of any that is watched) have changed: their triggers are looked at within a second, but for those whose looks fail, and those that somebody is changing.
CREATE OR REPLACE FUNCTION lockstep.dispatch_rows(p_relations oid[]) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    UPDATE lockstep.schedule s SET next_at = GREATEST(now(), (s.look).at + interval '1 second'), wake_at = GREATEST(now(), (s.look).at + interval '1 second')
    WHERE s.schedule_id = ANY (ARRAY(
        SELECT b.schedule_id FROM lockstep.schedule b
        WHERE (b.rows_rule).relation_oid IS NOT NULL AND b.is_active AND (b.rows_rule).relation_oid = ANY (COALESCE(p_relations, ARRAY(
              SELECT (a.rows_rule).relation_oid FROM lockstep.schedule a WHERE (a.rows_rule).relation_oid IS NOT NULL AND a.is_active
              AND lockstep.is_watched((a.rows_rule).relation_oid))))
        FOR NO KEY UPDATE SKIP LOCKED))
      AND s.wake_at > GREATEST(now(), (s.look).at + interval '1 second') AND s.asked_until IS NULL AND (s.look).error IS NULL
$$;
REVOKE EXECUTE ON FUNCTION lockstep.dispatch_rows(oid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.dispatch_rows(oid[]) TO lockstep_executor;
