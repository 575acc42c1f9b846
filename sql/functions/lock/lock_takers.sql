-- Which sessions hold locks of ours with these second integers: for a word about those that should hold none.
CREATE OR REPLACE FUNCTION lockstep.lock_takers(p_class text, VARIADIC p_ids int[]) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.string_agg(DISTINCT pg_catalog.format(
                                     'pid %s (%s)', l.pid,
                                     pg_catalog.concat_ws(', ', a.usename, NULLIF(a.application_name, ''))),
                                 ', ')
    FROM pg_catalog.pg_locks l LEFT JOIN pg_catalog.pg_stat_activity a USING (pid)
    WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND l.classid = lockstep.lock_class(p_class)::oid
      AND l.objid = ANY (p_ids::oid[])
      AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())
$$;
REVOKE EXECUTE ON FUNCTION lockstep.lock_takers(text, int[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.lock_takers(text, int[]) TO lockstep_executor;
