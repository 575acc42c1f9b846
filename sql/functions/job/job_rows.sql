-- Staged tasks out of the rows of a query: each field a column, as lockstep publish --query takes them; a row of one
-- column that is a JSON object is the task itself. NULL is a field that is not there; a text is read as JSON where the
-- field is no text.
CREATE OR REPLACE FUNCTION lockstep.job_rows(p_rows jsonb[]) RETURNS jsonb[] LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_rows IS NOT NULL THEN ARRAY(
                    SELECT CASE WHEN o.only IS NOT NULL THEN o.only
                                ELSE (
                                    SELECT COALESCE(
                                               pg_catalog.jsonb_object_agg(
                                                   CASE e.key WHEN 'execution_order' THEN 'order' ELSE e.key END,
                                                   CASE WHEN pg_catalog.jsonb_typeof(e.value) = 'string'
                                                             AND f.field IS NOT NULL AND NOT 'string' = ANY (f.types)
                                                             AND e.value #>> '{}' ~ '^[[:space:]]*[][{}0-9tfn"-]'
                                                            THEN (e.value #>> '{}')::jsonb
                                                        ELSE e.value END),
                                               '{}')
                                    FROM pg_catalog.jsonb_each(r.row) AS e
                                    LEFT JOIN lockstep.enqueue_fields() AS f
                                        ON f.field = CASE e.key WHEN 'execution_order' THEN 'order' ELSE e.key END
                                    WHERE e.value <> 'null') END
                    FROM pg_catalog.unnest(p_rows) WITH ORDINALITY AS r (row, n)
                    CROSS JOIN LATERAL (
                        SELECT CASE WHEN pg_catalog.count(*) = 1
                                         AND pg_catalog.bool_and(pg_catalog.jsonb_typeof(e.value) = 'object')
                                        THEN (pg_catalog.array_agg(e.value))[1] END AS only
                        FROM pg_catalog.jsonb_each(r.row) AS e) AS o
                    ORDER BY r.n) END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_rows(jsonb[]) FROM PUBLIC;
