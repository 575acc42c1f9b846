-- A job of a list as errors name it: by its name, or, when it has none, by its place.
CREATE OR REPLACE FUNCTION lockstep.job_about(p_spec jsonb, p_n bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN pg_catalog.jsonb_typeof(p_spec -> 'job') = 'string' AND p_spec ->> 'job' <> ''
                THEN pg_catalog.left(p_spec ->> 'job', 63) ELSE pg_catalog.format('job %s of the list', p_n) END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_about(jsonb, bigint) FROM PUBLIC;
