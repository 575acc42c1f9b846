-- How often a schedule was missed, in words that follow a sentence: nothing of a single time, which the sentence names.
-- p_count: of at least so many if p_more.
CREATE OR REPLACE FUNCTION lockstep.job_missed_words(p_rule lockstep.rule, p_count bigint, p_first timestamptz,
    p_last timestamptz, p_more boolean DEFAULT false)
RETURNS text LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.format('; missed %s%s times since %s%s %s', CASE WHEN p_more THEN 'at least ' END, p_count,
               f.first, ', last ' || f.last, f.zone)
    FROM (SELECT w.zone, pg_catalog.to_char(p_first AT TIME ZONE w.zone, 'YYYY-MM-DD HH24:MI:SS') AS first,
                 CASE WHEN NOT p_more
                          THEN pg_catalog.to_char(p_last AT TIME ZONE w.zone, 'YYYY-MM-DD HH24:MI:SS') END AS last
          FROM (SELECT COALESCE(p_rule.zone, 'UTC') AS zone) AS w) AS f
    WHERE p_count > 1
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_missed_words(lockstep.rule, bigint, timestamptz, timestamptz, boolean)
    FROM PUBLIC;
