-- The index that keeps a look at this trigger short, as a statement; NULL: there is one that begins with the column of
-- the rows' times, or the trigger names none. PostgreSQL refuses an index whose condition has a function that is not
-- immutable, or a subquery, and only an attempt to create it shows that: a condition that may have one gets a remark.
CREATE OR REPLACE FUNCTION lockstep.job_advice(p_rule lockstep.rows_rule) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_rule.created_column IS NOT NULL
                     AND NOT EXISTS (
                         SELECT FROM pg_catalog.pg_index i
                         JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
                         WHERE i.indrelid = lockstep.job_relation(p_rule.relation)
                           AND pg_catalog.quote_ident(a.attname) = p_rule.created_column AND i.indisvalid
                           AND (i.indpred IS NOT NULL OR p_rule.pending = 'true'))
                     AND EXISTS (SELECT FROM pg_catalog.pg_class c
                                 WHERE c.oid = lockstep.job_relation(p_rule.relation) AND c.relkind IN ('r', 'm'))
                    THEN pg_catalog.format(
                             'CREATE INDEX CONCURRENTLY ON %s (%s)%s', p_rule.relation, p_rule.created_column,
                             CASE WHEN p_rule.pending <> 'true' THEN ' WHERE ' || p_rule.pending ELSE '' END)
                         || CASE WHEN p_rule.pending ~* '[(]|\mcurrent_|\mlocaltime'
                                     THEN ' -- if PostgreSQL refuses this condition, leave out the part with a '
                                          'function or a subquery'
                                 ELSE '' END END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_advice(lockstep.rows_rule) FROM PUBLIC;
