-- Is something of this run still to be sent: its events, dead letters of its rejected messages, a redrive whose outcome
-- is not known?
CREATE OR REPLACE FUNCTION lockstep.sweep_waits(p_run_no bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM lockstep.outbox o WHERE o.run_no = p_run_no)
           OR EXISTS (SELECT FROM lockstep.rejected_message m
                      WHERE m.run_no = p_run_no
                        AND (m.redrive_noted IS NOT NULL AND NOT lockstep.redrive_made(m.queue_id, m.redrive_noted)
                             OR EXISTS (SELECT FROM lockstep.outbox o WHERE o.rejected_id = m.rejected_id)))
$$;
REVOKE EXECUTE ON FUNCTION lockstep.sweep_waits(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.sweep_waits(bigint) TO lockstep_executor;
