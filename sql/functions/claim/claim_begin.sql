-- Begins a phase with a segment (p_fresh), or a run (p_run_no NULL), or continues a run behind messages that are
-- missing (p_loose, p_loss: see claim_run). The first phase of a run that waits for no other run is open from the
-- start, unless an operator holds the run. The answer has the values with which claim continues; for a phase that is
-- not fresh, claim knows phase_id, is_open and took_shared itself.
CREATE OR REPLACE FUNCTION lockstep.claim_begin(
    p_queue_id int, p_executor_no int, p_segment lockstep.segment, p_head int, p_run_no bigint, p_fresh boolean,
    p_loose bigint[], p_loss text, p_stopped boolean, p_parked boolean, p_conditional boolean,
    OUT run_no bigint, OUT phase_id bigint, OUT is_open boolean, OUT took_shared boolean, OUT stopped boolean,
    OUT spared boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    external CONSTANT boolean := lockstep.payload_type(p_segment.payloads[pg_catalog.cardinality(p_segment.offsets)])
        = 'external';
    taken boolean; -- the caller takes its tasks
BEGIN
    run_no := p_run_no;
    stopped := p_stopped;
    IF p_run_no IS NULL OR p_loss IS NOT NULL OR p_loose <> '{}' THEN
        SELECT r.run_no, p_stopped OR r.stopped INTO run_no, stopped
        FROM lockstep.claim_run(p_queue_id, p_segment, p_head, p_run_no, p_loose, p_loss) AS r;
    END IF;
    spared := false;
    IF stopped AND p_conditional AND p_loss IS NULL THEN
        spared := (SELECT r.stop_after > 0 FROM lockstep.run r WHERE r.run_no = claim_begin.run_no);
    END IF;
    IF NOT p_fresh THEN
        PERFORM lockstep.claim_widen((SELECT r.last_phase_id FROM lockstep.run r WHERE r.run_no = claim_begin.run_no),
                                     external, p_conditional, spared);
        RETURN;
    END IF;
    taken := NOT stopped AND NOT p_parked;
    INSERT INTO lockstep.phase (run_no, queue_id, "order", previous_order, previous_phase_id, external, conditional,
                                events, opened_at, done_at)
    SELECT r.run_no, p_queue_id, p_segment."order", p_segment.previous, r.last_phase_id, external, p_conditional,
           r.events,
           CASE WHEN taken AND r.last_phase_id IS NULL AND r.after_run_no IS NULL AND r.paused_by IS NULL
                    THEN pg_catalog.clock_timestamp() END,
           CASE WHEN stopped AND NOT spared THEN pg_catalog.clock_timestamp() END
    FROM lockstep.run r
    WHERE r.run_no = claim_begin.run_no
    RETURNING phase.phase_id, phase.opened_at IS NOT NULL INTO STRICT phase_id, is_open;
    IF is_open THEN
        UPDATE lockstep.run SET started_at = COALESCE(started_at, pg_catalog.clock_timestamp())
        WHERE run.run_no = claim_begin.run_no;
        INSERT INTO lockstep.event_log (event, queue_id, run_no, phase_id, executor_no, detail)
        VALUES ('phase_opened', p_queue_id, run_no, phase_id, p_executor_no,
                pg_catalog.format('order %s', p_segment."order"));
    END IF;
    IF spared THEN
        PERFORM pg_catalog.pg_notify('lockstep_' || p_queue_id, 'work');
    END IF;
    IF external AND is_open THEN
        PERFORM pg_catalog.pg_notify('lockstep_external',
                                     (SELECT q.name FROM lockstep.queue q WHERE q.queue_id = p_queue_id));
    END IF;
    took_shared := false;
    IF taken THEN
        took_shared := lockstep.lock_shared_xact(phase_id);
        IF NOT took_shared THEN -- no executor can know of the phase yet
            PERFORM lockstep.claim_barred(phase_id);
        END IF;
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.claim_begin(
    int, int, lockstep.segment, int, bigint, boolean, bigint[], text, boolean, boolean, boolean)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.claim_begin(
    int, int, lockstep.segment, int, bigint, boolean, bigint[], text, boolean, boolean, boolean)
    TO lockstep_executor;
