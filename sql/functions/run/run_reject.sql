-- Messages of a run that could not become tasks count as failed tasks of the phase being filled. Called under the lock
-- of the queue's row.
CREATE OR REPLACE FUNCTION lockstep.run_reject(p_run_no bigint, p_count bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    policy text;
    filling bigint;
BEGIN
    UPDATE lockstep.run SET rejected = rejected + p_count WHERE run_no = p_run_no
    RETURNING on_failure, last_order INTO STRICT policy, filling;
    PERFORM lockstep.run_fail(p_run_no, filling, pg_catalog.format('%s message(s) rejected', p_count));
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.run_reject TO lockstep_executor;
