-- The lowest value of a set; NULL: it is empty. It is put into the expressions that call it, so no loop and not STRICT.
CREATE OR REPLACE FUNCTION lockstep.rule_lowest(p_set bigint) RETURNS int LANGUAGE sql IMMUTABLE AS $$
    SELECT pg_catalog.round(pg_catalog.ln(NULLIF(p_set & -p_set, 0)::float8) / pg_catalog.ln(2::float8))::int
$$;
