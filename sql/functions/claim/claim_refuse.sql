-- Messages whose tags or sequence are wrong are kept as rejected, with their keys and headers, and count in their run.
-- p_run_no: the run, NULL: not seen before. Returns the run, which is begun if it names one. See claim.
CREATE OR REPLACE FUNCTION lockstep.claim_refuse(
    p_queue_id int, p_executor_no int, p_epoch int, p_segment lockstep.segment, p_head int, p_last int, p_refused text,
    p_run_no bigint, p_gap bigint, p_loose bigint[], p_loss text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    known CONSTANT boolean := p_run_no IS NOT NULL;
    named CONSTANT boolean := p_segment.run IS NOT NULL;
    run_row record;
    own_run_no bigint := p_run_no;
    why text; -- but for duplicates
BEGIN
    SELECT r.end_offset, r.closed_by, r.last_phase_id, r.last_order, r.last_previous_order INTO run_row
    FROM lockstep.run r WHERE r.run_no = p_run_no;
    IF named AND NOT known THEN
        own_run_no := lockstep.run_start(p_queue_id, p_segment.run, false, p_segment.offsets[p_head],
                                         CASE WHEN p_segment.kind = 'task' THEN p_segment.payloads[p_head] END);
    END IF;
    IF named AND p_refused <> 'duplicate' AND run_row.end_offset IS NULL THEN
        UPDATE lockstep.run SET next_seq = p_segment.seqs[p_last] + 1 WHERE run_no = own_run_no;
        IF p_loss IS NOT NULL THEN -- the phases behind a missing one are a hole; that is loss, too
            PERFORM lockstep.run_stop(own_run_no, 0, p_loss);
        ELSE
            UPDATE lockstep.rejected_message m SET run_no = own_run_no WHERE m.rejected_id = ANY (p_loose);
        END IF;
        PERFORM lockstep.run_reject(own_run_no, p_last - p_head + 1 + CASE WHEN p_loss IS NULL THEN p_gap ELSE 0 END);
    END IF;
    why := CASE WHEN named AND run_row.end_offset IS NOT NULL AND run_row.closed_by IS NULL
                    THEN pg_catalog.format('the run has ended at offset %s', run_row.end_offset)
                WHEN named AND run_row.end_offset IS NOT NULL THEN pg_catalog.format(
                    'the run was ended by %s, before offset %s', run_row.closed_by, run_row.end_offset)
                WHEN p_segment.kind = 'end' THEN 'there is no run to end'
                WHEN run_row.last_phase_id IS NULL THEN pg_catalog.format(
                    'order %s after %s follows nothing: no order was before it', p_segment."order", p_segment.previous)
                ELSE pg_catalog.format('order %s after %s does not follow order %s after %s', p_segment."order",
                                       p_segment.previous, run_row.last_order, run_row.last_previous_order) END;
    INSERT INTO lockstep.rejected_message (queue_id, epoch, kafka_offset, run_no, seq, reason, detail, raw, key,
                                           header_names, header_values)
    SELECT p_queue_id, p_epoch, m.o, own_run_no, m.s, p_refused,
           CASE WHEN p_refused = 'duplicate' THEN pg_catalog.format('seq %s of the run was there before', m.s)
                ELSE why END,
           pg_catalog.convert_to(m.p, 'UTF8'), m.k, h.names, h.contents
    FROM ROWS FROM (pg_catalog.unnest(p_segment.offsets[p_head:p_last]),
                    pg_catalog.unnest(p_segment.seqs[p_head:p_last]),
                    pg_catalog.unnest(p_segment.payloads[p_head:p_last]),
                    pg_catalog.unnest(p_segment.keys[p_head:p_last])) AS m (o, s, p, k)
    LEFT JOIN ( -- not for each record again: there may be many headers
        SELECT a.o, pg_catalog.array_agg(a.name ORDER BY a.n) AS names,
               pg_catalog.array_agg(a.content ORDER BY a.n) AS contents
        FROM ROWS FROM (pg_catalog.unnest(p_segment.header_offsets), pg_catalog.unnest(p_segment.header_names),
                        pg_catalog.unnest(p_segment.header_values)) WITH ORDINALITY AS a (o, name, content, n)
        GROUP BY a.o) AS h USING (o)
    ORDER BY m.o
    ON CONFLICT (queue_id, epoch, kafka_offset) DO NOTHING;
    INSERT INTO lockstep.event_log (event, queue_id, run_no, executor_no, detail)
    VALUES ('message_rejected', p_queue_id, own_run_no, p_executor_no,
            pg_catalog.format('offsets %s to %s: %s', p_segment.offsets[p_head], p_segment.offsets[p_last], p_refused));
    RETURN own_run_no;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.claim_refuse TO lockstep_executor;
