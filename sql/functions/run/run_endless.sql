-- Does a run wait for nothing but its end, while no producer is known that is about to send it? lockstep.run_end ends
-- such a run.
CREATE OR REPLACE FUNCTION lockstep.run_endless(p_run_no bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT r.ended_at IS NULL AND r.cancelled_at IS NULL AND r.end_offset IS NULL AND r.status = 'Running'
           AND (lockstep.explain_end(p_run_no)).reason IN ('run_end_missing', 'run_abandoned')
           AND NOT EXISTS (SELECT FROM lockstep.phase p
                           CROSS JOIN LATERAL ( -- as in run_finish
                               SELECT FROM lockstep.task t
                               WHERE t.phase_id = p.phase_id AND NOT lockstep.is_finished(t.status) LIMIT 1) t
                           WHERE p.run_no = p_run_no AND p.done_at IS NULL)
    FROM lockstep.run r WHERE r.run_no = p_run_no
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_endless(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.run_endless(bigint)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
