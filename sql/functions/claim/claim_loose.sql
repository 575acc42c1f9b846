-- The rejected records, not counted yet, that may account for p_gap sequence numbers that are missing before p_offset.
-- p_run_no: the run; NULL: not seen before. p_last_run_no: the newest run of the queue. See claim.
CREATE OR REPLACE FUNCTION lockstep.claim_loose(
    p_queue_id int, p_epoch int, p_last_run_no bigint, p_run_no bigint, p_offset bigint, p_gap bigint)
RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
    -- More at once are loss, even if records were rejected: the search for them would hold the lock of the queue's row.
    gap_most CONSTANT bigint := 10000;
    run_row record;
    -- behind this offset: since the last message of the run; of a run not seen before: since the run before it
    since bigint;
BEGIN
    SELECT r.epoch, r.first_offset, r.last_phase_id, r.next_seq INTO run_row
    FROM lockstep.run r WHERE r.run_no = p_run_no;
    since := CASE WHEN p_run_no IS NOT NULL AND run_row.epoch <> p_epoch THEN -1
                  WHEN p_run_no IS NOT NULL
                      THEN GREATEST(run_row.first_offset,
                                    (SELECT pg_catalog.max(t.kafka_offset)
                                     FROM lockstep.task t WHERE t.phase_id = run_row.last_phase_id))
                  ELSE COALESCE((SELECT COALESCE(b.end_offset - (b.closed_by IS NOT NULL)::int, b.first_offset)
                                 FROM lockstep.run b
                                 WHERE b.run_no = p_last_run_no AND b.epoch = p_epoch),
                                -1) END;
    IF run_row.epoch = p_epoch THEN
        since := GREATEST(since,
                          (SELECT pg_catalog.max(c.kafka_offset)
                           FROM lockstep.rejected_message c
                           WHERE c.run_no = p_run_no AND c.kafka_offset > since AND c.seq < run_row.next_seq
                             AND c.reason <> 'duplicate'));
    END IF;
    -- they cannot be enough: all that was ever rejected would be read
    IF p_gap > LEAST(gap_most, p_offset - since - 1) THEN
        RETURN '{}';
    END IF;
    -- One query for each index: a run's has no queue_id, with which the other could be taken.
    RETURN ARRAY(
        SELECT m.rejected_id
        FROM ((SELECT n.rejected_id, n.kafka_offset FROM lockstep.rejected_message n
               WHERE n.queue_id = p_queue_id AND n.epoch = p_epoch AND n.run_no IS NULL
                 AND n.kafka_offset > since AND n.kafka_offset < p_offset
               ORDER BY n.kafka_offset DESC LIMIT p_gap)
              UNION ALL
              (SELECT o.rejected_id, o.kafka_offset FROM lockstep.rejected_message o
               WHERE o.run_no = p_run_no AND o.seq >= run_row.next_seq AND o.epoch = p_epoch
                 AND o.kafka_offset > since AND o.kafka_offset < p_offset
               ORDER BY o.kafka_offset DESC LIMIT p_gap)) AS m
        ORDER BY m.kafka_offset DESC LIMIT p_gap);
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.claim_loose TO lockstep_executor;
