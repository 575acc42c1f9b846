-- Has a job of this definition SQL of its own for a firing? Only a session of the tasks' login runs that.
CREATE OR REPLACE FUNCTION lockstep.job_has_sql(spec jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT spec ? 'query' OR COALESCE(spec -> 'trigger' ? 'mark', false)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_has_sql(jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_has_sql(jsonb) TO lockstep_producer, lockstep_operator, lockstep_monitor;
