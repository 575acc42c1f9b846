-- Reject: records that follow each other, are no messages and name no run become rejected messages, in the transaction
-- that moves the cursor past them. Many in one: else a flood of them would cost the executor's other queues much more
-- than as many messages. One that names a run counts there, and is lockstep.claim's.
--
-- first_offset: the first one that was not taken by another executor before. p_buffer_from and the verdicts rejected,
-- moved, behind, paused and halted are those of lockstep.claim.
CREATE OR REPLACE FUNCTION lockstep.reject(
    p_queue_id int, p_executor_no int, p_buffer_from bigint, p_segment lockstep.segment,
    OUT verdict text, OUT next_offset bigint, OUT first_offset bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    queue_row record;
    of_run bigint; -- the implicit run that is open
    last CONSTANT int := pg_catalog.cardinality(p_segment.offsets);
BEGIN
    SELECT queue.next_offset AS cursor, paused, halted_reason, implicit_run_no, epoch INTO STRICT queue_row
    -- serialises with claims: no offset is taken twice
    FROM lockstep.queue WHERE queue_id = p_queue_id FOR NO KEY UPDATE;
    next_offset := queue_row.cursor;
    verdict := CASE WHEN queue_row.halted_reason IS NOT NULL THEN 'halted'
                    WHEN queue_row.paused THEN 'paused'
                    WHEN queue_row.cursor < p_buffer_from THEN 'behind'
                    WHEN p_segment.offsets[last] < queue_row.cursor THEN 'moved' END;
    IF verdict IS NOT NULL THEN
        RETURN;
    END IF;
    SELECT r.run_no INTO of_run
    FROM lockstep.run r
    WHERE r.run_no = queue_row.implicit_run_no AND r.epoch = queue_row.epoch AND r.first_offset IS NOT NULL;
    WITH gone AS (
        SELECT m.o, m.s, m.reason, m.detail, m.raw, m.k
        FROM ROWS FROM (pg_catalog.unnest(p_segment.offsets), pg_catalog.unnest(p_segment.seqs),
                        pg_catalog.unnest(p_segment.reasons), pg_catalog.unnest(p_segment.details),
                        pg_catalog.unnest(p_segment.raws), pg_catalog.unnest(p_segment.keys)) AS m (
            o, s, reason, detail, raw, k)
        WHERE m.o >= queue_row.cursor), -- another executor may have taken the first ones
    notified AS (
        INSERT INTO lockstep.event_log (event, queue_id, run_no, executor_no, detail)
        SELECT 'message_rejected', p_queue_id, of_run, p_executor_no,
               pg_catalog.format('offset %s: %s: %s', m.o, m.reason, m.detail)
        FROM gone AS m ORDER BY m.o)
    INSERT INTO lockstep.rejected_message (queue_id, epoch, kafka_offset, seq, reason, detail, raw, key, header_names,
                                           header_values)
    SELECT p_queue_id, queue_row.epoch, m.o, m.s, m.reason, m.detail, m.raw, m.k, h.names, h.contents
    FROM gone AS m
    LEFT JOIN (SELECT a.o, pg_catalog.array_agg(a.name ORDER BY a.n) AS names,
                      pg_catalog.array_agg(a.content ORDER BY a.n) AS contents
               FROM ROWS FROM (pg_catalog.unnest(p_segment.header_offsets), pg_catalog.unnest(p_segment.header_names),
                               pg_catalog.unnest(p_segment.header_values)) WITH ORDINALITY AS a (o, name, content, n)
               GROUP BY a.o) AS h USING (o)
    ORDER BY m.o
    ON CONFLICT (queue_id, epoch, kafka_offset) DO NOTHING; -- a replay was here before
    verdict := 'rejected';
    first_offset := queue_row.cursor;
    next_offset := lockstep.cursor_advance(p_queue_id, p_segment.offsets[last], p_segment.last_timestamp,
                                           p_segment.last_digest);
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.reject TO lockstep_executor;
