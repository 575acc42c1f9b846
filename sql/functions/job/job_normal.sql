-- The spec of a job in the form in which specs are stored and compared: without the fields that have no effect, which
-- are "enabled": true, of the job or of a schedule, and a list of no schedules. So a job that was disabled and is
-- enabled again equals its declaration.
CREATE OR REPLACE FUNCTION lockstep.job_normal(p_spec jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT p_spec - ARRAY(SELECT d.field
                          FROM (VALUES ('enabled', 'true'::jsonb), ('schedules', '[]')) AS d (field, value)
                          WHERE p_spec -> d.field = d.value)
           || CASE WHEN pg_catalog.jsonb_typeof(p_spec -> 'schedules') = 'array' AND p_spec -> 'schedules' <> '[]'
                       THEN pg_catalog.jsonb_build_object('schedules', (
                           SELECT pg_catalog.jsonb_agg(CASE WHEN s.value -> 'enabled' = 'true' THEN s.value - 'enabled'
                                                            ELSE s.value END ORDER BY s.n)
                           FROM pg_catalog.jsonb_array_elements(p_spec -> 'schedules') WITH ORDINALITY AS s (value, n)))
                   ELSE '{}' END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_normal(jsonb) FROM PUBLIC;
