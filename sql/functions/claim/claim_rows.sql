-- The records p_head to p_last of a segment as the tasks that they become. vain: the task is not needed, because no
-- earlier task failed; taken: the task is the caller's. p_due, p_conditions, p_keys: of each record (see
-- claim_special). p_cancelled: the run was stopped; p_spared: its tasks with a condition run in spite of that.
-- p_in_vain: no task before an open phase failed. p_taken: the caller takes the tasks that may start. The planner
-- inlines this. See claim.
CREATE OR REPLACE FUNCTION lockstep.claim_rows(
    p_segment lockstep.segment, p_head int, p_last int, p_due timestamptz[], p_conditions text[], p_keys text[],
    p_cancelled boolean, p_spared boolean, p_in_vain boolean, p_taken boolean, p_is_open boolean)
RETURNS TABLE (kafka_offset bigint, seq bigint, payload text, name text, max_attempts int, traceparent text,
               due timestamptz, condition text, key text, status lockstep.status, vain boolean, taken boolean)
LANGUAGE sql STABLE AS $$
    SELECT m.o, m.s, m.p, m.n, m.a, m.t, m.d, m.c, m.k,
           CASE WHEN v.vain OR (p_cancelled AND NOT (p_spared AND m.c IS NOT NULL)) THEN 'Cancelled'
                ELSE 'Pending' END::lockstep.status,
           COALESCE(v.vain, false),
           p_taken AND v.vain IS NOT TRUE AND (m.d IS NULL OR m.d <= pg_catalog.clock_timestamp())
           AND (m.c IS DISTINCT FROM 'failure' OR p_is_open)
    FROM ROWS FROM (
        pg_catalog.unnest(p_segment.offsets[p_head:p_last]), pg_catalog.unnest(p_segment.seqs[p_head:p_last]),
        pg_catalog.unnest(p_segment.payloads[p_head:p_last]), pg_catalog.unnest(p_segment.names[p_head:p_last]),
        pg_catalog.unnest(p_segment.max_attempts[p_head:p_last]),
        pg_catalog.unnest(p_segment.traceparents[p_head:p_last]), pg_catalog.unnest(p_due[p_head:p_last]),
        pg_catalog.unnest(p_conditions[p_head:p_last]), pg_catalog.unnest(p_keys[p_head:p_last]))
        AS m (o, s, p, n, a, t, d, c, k)
    CROSS JOIN LATERAL (SELECT p_in_vain AND m.c = 'failure' AS vain) AS v
$$;
REVOKE EXECUTE ON FUNCTION lockstep.claim_rows(
    lockstep.segment, int, int, timestamptz[], text[], text[], boolean, boolean, boolean, boolean, boolean)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.claim_rows(
    lockstep.segment, int, int, timestamptz[], text[], text[], boolean, boolean, boolean, boolean, boolean)
    TO lockstep_executor;
