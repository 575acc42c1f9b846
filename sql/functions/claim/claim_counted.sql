-- Updates a run at the end of a claim: its last phase is p_phase_id (p_fresh: a new one), and it has p_tasks more
-- tasks. p_next_seq: the sequence number that is expected next; NULL for an implicit run, whose messages have none.
-- claim calls this behind the INSERT of the tasks.
CREATE OR REPLACE FUNCTION lockstep.claim_counted(
    p_run_no bigint, p_phase_id bigint, p_tasks int, p_fresh boolean, p_parked boolean, p_order bigint,
    p_previous bigint, p_next_seq bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE lockstep.run r
    SET next_seq = COALESCE(p_next_seq, r.next_seq), tasks = r.tasks + p_tasks,
        phases = r.phases + CASE WHEN p_fresh THEN 1 ELSE 0 END, last_phase_id = p_phase_id, last_order = p_order,
        last_previous_order = p_previous, parked_order = CASE WHEN p_parked THEN p_order ELSE r.parked_order END
    WHERE r.run_no = p_run_no;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.claim_counted(bigint, bigint, int, boolean, boolean, bigint, bigint, bigint)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.claim_counted(bigint, bigint, int, boolean, boolean, bigint, bigint, bigint)
    TO lockstep_executor;
