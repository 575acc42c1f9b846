-- Reads the payloads of special messages: the time before which each must not start, its condition (NULL: success) and
-- its idempotency key. See claim.
CREATE OR REPLACE FUNCTION lockstep.claim_special(
    p_payloads text[], OUT due timestamptz[], OUT conditions text[], OUT keys text[])
LANGUAGE sql AS $$
    SELECT pg_catalog.array_agg((m.j ->> 'not_before')::timestamptz ORDER BY m.n),
           pg_catalog.array_agg(NULLIF(m.j ->> 'condition', 'success') ORDER BY m.n),
           pg_catalog.array_agg(m.j ->> 'key' ORDER BY m.n)
    FROM (SELECT u.p::json AS j, u.n FROM pg_catalog.unnest(p_payloads) WITH ORDINALITY AS u (p, n)) AS m
$$;
GRANT EXECUTE ON FUNCTION lockstep.claim_special TO lockstep_executor;
