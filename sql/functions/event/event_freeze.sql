-- Makes the events of a run that wait for the relay from its current state, before the caller changes the run. An event
-- that the relay is processing at this moment is made by the relay, from the state before the change.
CREATE OR REPLACE FUNCTION lockstep.event_freeze(p_run_no bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wait bigint[];
BEGIN
    IF (SELECT r.events FROM lockstep.run r WHERE r.run_no = p_run_no) THEN
        wait := ARRAY(SELECT o.outbox_id
                      FROM lockstep.outbox o
                      WHERE o.queue_id = (SELECT r.queue_id FROM lockstep.run r WHERE r.run_no = p_run_no)
                        AND o.kind = 'events' AND o.relay_seq IS NULL AND o.run_no = p_run_no AND o.value IS NULL
                      ORDER BY o.outbox_id FOR NO KEY UPDATE SKIP LOCKED);
        UPDATE lockstep.outbox o SET value = lockstep.event_message(o.outbox_id) WHERE o.outbox_id = ANY (wait);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.event_freeze(bigint) FROM PUBLIC;
