-- A set in words, stretches as ranges: 1-5, 9. p_names: of the values from p_low on; NULL: numbers, of at least
-- p_digits.
CREATE OR REPLACE FUNCTION lockstep.rule_set_words(
    p_set bigint, p_low int, p_names text[] DEFAULT NULL, p_digits int DEFAULT 1)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT pg_catalog.string_agg(CASE WHEN s.last = s.first THEN s.a
                                      WHEN s.last = s.first + 1 THEN s.a || ', ' || s.b ELSE s.a || '-' || s.b END,
                                 ', ' ORDER BY s.first)
    FROM (SELECT pg_catalog.min(v.n) AS first, pg_catalog.max(v.n) AS last,
                 COALESCE(p_names[pg_catalog.min(v.n) - p_low + 1],
                          pg_catalog.lpad(pg_catalog.min(v.n)::text,
                                          GREATEST(p_digits, pg_catalog.length(pg_catalog.min(v.n)::text)), '0')) AS a,
                 COALESCE(p_names[pg_catalog.max(v.n) - p_low + 1],
                          pg_catalog.lpad(pg_catalog.max(v.n)::text,
                                          GREATEST(p_digits, pg_catalog.length(pg_catalog.max(v.n)::text)), '0')) AS b
          FROM (SELECT n, n - pg_catalog.row_number() OVER (ORDER BY n) AS stretch
                FROM pg_catalog.generate_series(p_low, 62) AS n
                WHERE p_set & (1::bigint << n) <> 0) AS v
          GROUP BY v.stretch) AS s
$$;
