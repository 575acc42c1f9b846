-- A run begins with the record p_head of a segment (p_run_no NULL), or messages are missing before that record: p_loss
-- says that they are lost, else p_loose, rejected records, account for them. The answer is the run. stopped: the tasks
-- that are claimed from now on are cancelled, because an operator has cancelled the run before its first message was
-- claimed, or because the missing messages count as failed. See claim.
CREATE OR REPLACE FUNCTION lockstep.claim_run(
    p_queue_id int, p_segment lockstep.segment, p_head int, p_run_no bigint, p_loose bigint[], p_loss text,
    OUT run_no bigint, OUT stopped boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    head_offset CONSTANT bigint := p_segment.offsets[p_head];
    before record; -- the implicit run that is open
BEGIN
    run_no := p_run_no;
    IF p_run_no IS NULL AND p_segment.run IS NULL THEN
        SELECT r.run_no, q.epoch, r.epoch = q.epoch AS same_epoch INTO before
        FROM lockstep.queue q LEFT JOIN lockstep.run r ON r.run_no = q.implicit_run_no AND r.first_offset IS NOT NULL
        WHERE q.queue_id = p_queue_id;
        IF before.run_no IS NOT NULL THEN -- to one of an earlier epoch nothing of this one belongs
            UPDATE lockstep.run r SET end_offset = CASE WHEN before.same_epoch THEN head_offset ELSE r.first_offset END
            WHERE r.run_no = before.run_no;
            PERFORM lockstep.run_finish(before.run_no);
        END IF;
        run_no := lockstep.run_start(p_queue_id, lockstep.implicit_run_id(p_segment.implicit, before.epoch), true,
                                     head_offset);
    ELSIF p_run_no IS NULL THEN
        run_no := lockstep.run_start(p_queue_id, p_segment.run, false, head_offset,
                                     CASE p_segment.kind WHEN 'task' THEN p_segment.payloads[p_head] END);
    END IF;
    stopped := p_run_no IS NULL
               AND (SELECT r.stop_after IS NOT NULL FROM lockstep.run r WHERE r.run_no = claim_run.run_no);
    IF p_loss IS NOT NULL THEN
        PERFORM lockstep.run_stop(run_no, 0, p_loss);
    ELSIF p_loose <> '{}' THEN
        UPDATE lockstep.rejected_message m SET run_no = claim_run.run_no WHERE m.rejected_id = ANY (p_loose);
        PERFORM lockstep.run_reject(run_no, pg_catalog.cardinality(p_loose));
        stopped := stopped
                   OR COALESCE((SELECT p_segment."order" > r.stop_after
                                FROM lockstep.run r WHERE r.run_no = claim_run.run_no),
                               false);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.claim_run(int, lockstep.segment, int, bigint, bigint[], text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.claim_run(int, lockstep.segment, int, bigint, bigint[], text) TO lockstep_executor;
