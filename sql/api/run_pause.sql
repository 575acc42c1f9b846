-- An operator holds a run: no phase of it opens, no task of it starts, running tasks may finish. Its executors are
-- notified, return the tasks that they have not started and claim no more of them. A run that is not claimed yet may be
-- held, too.
CREATE OR REPLACE FUNCTION lockstep.run_pause(
    run_id uuid, reason text DEFAULT NULL, queue text DEFAULT NULL, OUT status text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    no CONSTANT bigint := lockstep.run_named(run_pause.run_id, run_pause.queue);
    own CONSTANT int := (SELECT r.queue_id FROM lockstep.run r WHERE r.run_no = no);
    r record;
BEGIN
    PERFORM FROM lockstep.queue q WHERE q.queue_id = own FOR NO KEY UPDATE;
    PERFORM FROM lockstep.run b WHERE b.run_no = no FOR NO KEY UPDATE;
    SELECT b.status, b.ended_at, b.paused_by, b.paused_at, b.cancelled_at, b.cancelled_by INTO STRICT r
    FROM lockstep.run b WHERE b.run_no = no;
    IF r.ended_at IS NOT NULL THEN
        RAISE EXCEPTION 'run % has ended: it is %', run_pause.run_id, r.status
            USING ERRCODE = 'LS002', HINT = format(CASE WHEN lockstep.run_retryable(no)
                THEN 'To run again what failed or was cancelled: lockstep run retry %s'
                ELSE 'To see how it ended: lockstep run show %s' END, run_pause.run_id);
    ELSIF r.cancelled_at IS NOT NULL THEN
        RAISE EXCEPTION 'run % is being cancelled, by %', run_pause.run_id, r.cancelled_by
            USING ERRCODE = 'LS002', HINT = format('What it waits for: lockstep run explain %s', run_pause.run_id);
    ELSIF r.paused_by IS NOT NULL THEN
        RAISE EXCEPTION 'run % is paused already, by %, since %', run_pause.run_id, r.paused_by,
                        date_trunc('second', r.paused_at)
            USING ERRCODE = 'LS002', HINT = format('To continue it: lockstep run resume %s', run_pause.run_id);
    END IF;
    UPDATE lockstep.run SET paused_by = lockstep.actor(), paused_at = clock_timestamp(), 
        -- parked: it holds up no other run
        parked_order = CASE WHEN run.implicit OR q.runs = 'serial' THEN run.parked_order ELSE run.last_order END,
        status = CASE WHEN run.status = 'Running' THEN 'Paused' ELSE run.status END
    FROM lockstep.queue q
    WHERE run_no = no AND q.queue_id = own RETURNING run.status INTO status;
    INSERT INTO lockstep.event_log (event, queue_id, run_no, detail) VALUES ('run_paused', own, no, reason);
    PERFORM pg_notify('lockstep_' || own, 'control');
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_pause(uuid, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.run_pause(uuid, text, text) TO lockstep_operator;
