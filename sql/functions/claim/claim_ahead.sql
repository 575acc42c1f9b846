-- Is it too early to claim another phase behind p_last_phase_id (NULL: it is the first of its run)? NULL: no.
-- lookahead: enough phases wait already;
-- others: p_in_stretches, and others have the last one and continue. See claim.
CREATE OR REPLACE FUNCTION lockstep.claim_ahead(
    p_queue_id int, p_lookahead int, p_in_stretches boolean, p_last_phase_id bigint, p_held bigint[])
RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF lockstep.phases_ahead(p_queue_id, p_lookahead) >= p_lookahead THEN
        RETURN 'lookahead';
    ELSIF p_in_stretches AND p_last_phase_id <> ALL (p_held) THEN
        RETURN (SELECT 'others' FROM lockstep.phase l JOIN lockstep.task t USING (phase_id)
                WHERE l.phase_id = p_last_phase_id AND l.opened_at IS NULL AND l.done_at IS NULL
                  AND t.executor_no IS NOT NULL AND lockstep.is_ownable(t.status)
                LIMIT 1);
    END IF;
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.claim_ahead(int, int, boolean, bigint, bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.claim_ahead(int, int, boolean, bigint, bigint[]) TO lockstep_executor;
