-- Is a task that failed with this SQLSTATE tried again, by this retry_on list? Of the entries that fit, the longest
-- decides: a code before a class before all. A SQLSTATE that fits no entry is not tried again. An error without a
-- SQLSTATE (of a program, of a request) is.
CREATE OR REPLACE FUNCTION lockstep.retries(p_sqlstate text, p_retry_on text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT p_sqlstate IS NULL OR COALESCE((
        SELECT e.entry NOT LIKE '-%'
        FROM pg_catalog.unnest(p_retry_on) AS e (entry)
        CROSS JOIN LATERAL (SELECT pg_catalog.ltrim(e.entry, '-')) AS w (what)
        WHERE w.what = 'all' OR pg_catalog.starts_with(p_sqlstate, w.what)
        ORDER BY CASE WHEN w.what = 'all' THEN 0 ELSE pg_catalog.length(w.what) END DESC LIMIT 1), false)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.retries(text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.retries(text, text[]) TO lockstep_executor;
