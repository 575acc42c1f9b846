-- The end of a run: it is known how much the run has, and whether that came. p_loss: messages before it are missing.
-- Returns what became of the run (run_finish). See claim.
CREATE OR REPLACE FUNCTION lockstep.claim_end(
    p_queue_id int, p_segment lockstep.segment, p_head int, p_run_no bigint, p_loss text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    named CONSTANT boolean := p_segment.run IS NOT NULL;
    run_row record;
    loss text := p_loss;
BEGIN
    SELECT r.tasks, r.phases, r.rejected INTO STRICT run_row FROM lockstep.run r WHERE r.run_no = p_run_no;
    IF p_segment.aborted THEN
        loss := 'aborted by its producer';
    ELSIF loss IS NULL AND named AND (p_segment.end_tasks <> run_row.tasks + run_row.rejected
                                      OR (run_row.rejected = 0 AND p_segment.end_phases <> run_row.phases)) THEN
        loss := pg_catalog.format('the end counts %s tasks in %s phases, there were %s in %s', p_segment.end_tasks,
                                  p_segment.end_phases, run_row.tasks + run_row.rejected, run_row.phases);
    END IF;
    IF loss IS NOT NULL THEN
        PERFORM lockstep.run_stop(p_run_no, 0, loss);
    END IF;
    UPDATE lockstep.run
    SET end_offset = p_segment.offsets[p_head],
        next_seq = CASE WHEN named THEN p_segment.seqs[p_head] + 1 ELSE next_seq END, end_tasks = p_segment.end_tasks,
        end_phases = p_segment.end_phases, aborted = p_segment.aborted
    WHERE run_no = p_run_no;
    IF NOT named THEN
        UPDATE lockstep.queue SET implicit_run_no = NULL WHERE queue_id = p_queue_id;
    END IF;
    RETURN lockstep.run_finish(p_run_no);
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.claim_end TO lockstep_executor;
