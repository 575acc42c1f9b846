-- The statement of one look at a trigger: how many rows wait, counted to the threshold and one more, and when the
-- oldest and the newest one came. With an index on the column of their times, for the rows that wait, each part reads a
-- few pages.
CREATE OR REPLACE FUNCTION lockstep.job_look_text(p_rule lockstep.rows_rule) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT pg_catalog.format(
               E'SELECT (SELECT pg_catalog.count(*) FROM (SELECT FROM %1$s WHERE (%2$s\n) LIMIT %3$s) AS waiting)',
               p_rule.relation, p_rule.pending, COALESCE(p_rule.threshold, 1000) + 1)
           || CASE WHEN p_rule.created_column IS NULL
                       THEN ', NULL::pg_catalog.timestamptz, NULL::pg_catalog.timestamptz'
                   ELSE pg_catalog.format(
                       E', (SELECT pg_catalog.min(%3$s)::pg_catalog.timestamptz FROM %1$s WHERE (%2$s\n))'
                       ', (SELECT pg_catalog.max(%3$s)::pg_catalog.timestamptz FROM %1$s WHERE (%2$s\n))',
                       p_rule.relation, p_rule.pending, p_rule.created_column) END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_look_text(lockstep.rows_rule) FROM PUBLIC;
