-- A record that is no message is kept as rejected. p_counts: its run could be read, and that is where it is missing;
-- else the next seq may show it. See claim.
CREATE OR REPLACE FUNCTION lockstep.claim_unreadable(
    p_queue_id int, p_executor_no int, p_epoch int, p_segment lockstep.segment, p_head int, p_run_no bigint,
    p_counts boolean)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_counts THEN
        UPDATE lockstep.run SET next_seq = next_seq + 1 WHERE run_no = p_run_no;
        PERFORM lockstep.run_reject(p_run_no, 1);
    END IF;
    INSERT INTO lockstep.rejected_message (queue_id, epoch, kafka_offset, run_no, seq, reason, detail, raw, key,
                                           header_names, header_values)
    VALUES (p_queue_id, p_epoch, p_segment.offsets[p_head], CASE WHEN p_segment.run IS NOT NULL THEN p_run_no END,
            p_segment.seqs[p_head], p_segment.reasons[p_head], p_segment.details[p_head], p_segment.raws[p_head],
            p_segment.keys[p_head], p_segment.header_names, p_segment.header_values)
    ON CONFLICT (queue_id, epoch, kafka_offset) DO NOTHING; -- a replay was here before
    INSERT INTO lockstep.event_log (event, queue_id, run_no, executor_no, detail)
    VALUES ('message_rejected', p_queue_id, p_run_no, p_executor_no,
            pg_catalog.format('offset %s: %s: %s', p_segment.offsets[p_head], p_segment.reasons[p_head],
                              p_segment.details[p_head]));
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.claim_unreadable TO lockstep_executor;
