-- Decides what a replay does with a segment of the topic: records without a gap that share kind, run, order and
-- previous order, as in a claim. It changes nothing; the answer has one row for each record, in their order. For the
-- dry run, and for replay_step, which asks again under the lock of the queue's row before it acts.
--   p_seen: a record of the same run, not beyond it, was met in the range before, so a gap before this one is in the
--   topic.
--
-- action   why
-- make     missing        the message has no row: it gets one, by the rules of a claim
--          duplicate      the message has no row: it gets one that says that it repeats another
-- reopen   failed, cancelled (because of a failure), done, not_needed (its condition was failure, and no task had
--          failed)
-- skip     done, failed, cancelled    the mode leaves them (mode failed: also what failed in a run that is Cancelled),
--                                     or an operator is cancelling the run
--          unfinished     is to be run anyway
--          ahead          not claimed yet: executors will
--          missing        mode failed
--          rejected       has its row; redrive is for those
--          duplicate      has its row; or its key is another task's (also of a failed task: another one has succeeded
--                         since)
--          not_needed     its condition was failure, and no task had failed
--          differs        the row at this offset holds another message: the topic is not the one from which it came
--          no_beginning   the records of its run before this one are missing, too, and not in the range
--          continued      its run continued without it
--          retention      it was finished, and its run, or its rejected row, is not kept any longer
CREATE OR REPLACE FUNCTION lockstep.replay_judge(p_queue_id int, p_mode text, p_kind text, p_run uuid, p_order bigint,
    p_offsets bigint[], p_seqs bigint[], p_payloads text[], p_seen boolean)
RETURNS TABLE (n int, action text, why text, run_no bigint, run_id uuid, phase_id bigint, task_id bigint)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    run_row record;
    known boolean;
    place bigint;   -- the phase
    cursor bigint := (SELECT q.next_offset FROM lockstep.queue q WHERE q.queue_id = p_queue_id);
    this_epoch int := (SELECT q.epoch FROM lockstep.queue q WHERE q.queue_id = p_queue_id);
    by_failure boolean;
    deleted int8range := (SELECT t.rejected
                          FROM lockstep.retention t WHERE t.queue_id = p_queue_id AND t.epoch = this_epoch);
    beyond boolean := false; -- an implicit run: it has tasks behind the segment
BEGIN
    -- The implicit run at an offset: the last one that begins at or before it.
    SELECT b.run_no, b.run_id, b.next_seq, b.end_offset, b.last_phase_id, b.implicit, b.swept,
           b.cancelled_at IS NOT NULL AND b.ended_at IS NULL AS is_being_cancelled,
           -- not cancelled_at: a run that was done before its cancellation has that, too
           b.status = 'Cancelled' AS is_cancelled
    INTO run_row
    FROM lockstep.run b
    WHERE b.queue_id = p_queue_id
      AND CASE WHEN p_run IS NULL THEN b.implicit AND b.epoch = this_epoch AND b.first_offset <= p_offsets[1]
               ELSE b.run_id = p_run AND b.first_offset IS NOT NULL END
    ORDER BY b.first_offset DESC LIMIT 1;
    known := FOUND;
    IF known THEN
        place := (SELECT p.phase_id FROM lockstep.phase p WHERE p.run_no = run_row.run_no AND p."order" = p_order);
        by_failure := lockstep.cancelled_by_failure(run_row.run_no, p_order);
        beyond := p_run IS NULL AND COALESCE(run_row.end_offset > p_offsets[1], true)
                  AND EXISTS (SELECT FROM lockstep.task t
                              WHERE t.phase_id = run_row.last_phase_id AND t.kafka_offset > p_offsets[1]);
    END IF;
    RETURN QUERY
    WITH m AS (
        SELECT i.n::int AS n, i.o, i.s, t.task_id, t.status, t.skipped,
               t.task_id IS NOT NULL AND t.payload <> i.p AS other, j.reason,
               p_kind = 'end' AND run_row.end_offset = i.o AND (p_run IS NOT NULL OR j.reason IS NULL) AS ended,
               -- As in key_take, which would refuse it.
               t.key IS NOT NULL AND t.status <> 'Completed'
               AND EXISTS (SELECT FROM lockstep.idempotency_key y
                           WHERE y.queue_id = p_queue_id AND y.key = t.key AND y.task_id <> t.task_id
                             AND NOT (y.run_id = run_row.run_id AND y.kafka_offset = i.o)
                             AND NOT EXISTS (SELECT FROM lockstep.task h
                                             WHERE h.task_id = y.task_id AND lockstep.frees_key(h.status))) AS taken
        FROM ROWS FROM (pg_catalog.unnest(p_offsets), pg_catalog.unnest(p_seqs), pg_catalog.unnest(p_payloads))
             WITH ORDINALITY AS i (o, s, p, n)
        LEFT JOIN lockstep.task t ON p_kind = 'task' AND t.phase_id = place AND t.kafka_offset = i.o
        LEFT JOIN lockstep.rejected_message j ON j.queue_id = p_queue_id AND j.epoch = this_epoch
             AND j.kafka_offset = i.o),
    judged AS (
        SELECT m.n, m.task_id,
               CASE WHEN m.o >= cursor THEN 'ahead'
                    WHEN m.reason = 'duplicate' THEN 'duplicate'
                    WHEN m.reason IS NOT NULL THEN 'rejected'
                    WHEN m.ended THEN 'done'
                    WHEN p_kind = 'reject' AND deleted @> m.o THEN 'retention'
                    WHEN run_row.swept AND p_kind <> 'reject'
                         AND (m.task_id IS NOT NULL OR p_run IS NOT NULL OR COALESCE(m.o <= run_row.end_offset, true))
                        THEN 'retention'
                    WHEN m.other THEN 'differs'
                    WHEN m.status = 'Completed' THEN 'done'
                    -- of a key
                    WHEN m.skipped = 'duplicate' OR (m.taken AND lockstep.is_finished(m.status)) THEN 'duplicate'
                    WHEN m.skipped = 'condition' THEN 'not_needed'
                    WHEN m.status = 'Cancelled' THEN 'cancelled'
                    WHEN lockstep.is_failed(m.status) THEN 'failed'
                    WHEN m.task_id IS NOT NULL THEN 'unfinished'
                    WHEN p_mode = 'failed' OR p_kind = 'reject' THEN 'missing'
                    WHEN beyond THEN 'continued'
                    WHEN p_run IS NULL THEN 'missing'
                    WHEN m.s > CASE WHEN known THEN run_row.next_seq ELSE 0 END + m.n - 1 AND NOT p_seen
                        THEN 'no_beginning'
                    WHEN NOT known OR m.s >= run_row.next_seq THEN 'missing'
                    WHEN EXISTS (SELECT FROM lockstep.task d WHERE d.phase_id = place AND d.seq = m.s) THEN 'duplicate'
                    WHEN EXISTS (SELECT FROM lockstep.rejected_message d
                                 WHERE d.run_no = run_row.run_no AND d.seq = m.s)
                        THEN 'duplicate'
                    WHEN p_kind = 'end' AND run_row.end_offset IS NOT NULL THEN 'duplicate'
                    ELSE 'continued' END AS why
        FROM m)
    SELECT j.n,
           CASE WHEN j.task_id IS NULL AND j.why = 'missing' AND p_mode <> 'failed' THEN 'make'
                WHEN j.why = 'duplicate' AND j.task_id IS NULL AND p_mode <> 'failed'
                     AND NOT EXISTS (SELECT FROM lockstep.rejected_message d
                                     WHERE d.queue_id = p_queue_id AND d.epoch = this_epoch
                                       AND d.kafka_offset = p_offsets[j.n])
                    THEN 'make'
                WHEN run_row.is_being_cancelled THEN 'skip'
                WHEN j.why = 'failed' AND (p_mode = 'all' OR (p_mode = 'failed' AND NOT run_row.is_cancelled))
                    THEN 'reopen'
                WHEN j.why = 'cancelled' AND (p_mode = 'all' OR (p_mode = 'failed' AND by_failure)) THEN 'reopen'
                WHEN (j.why = 'not_needed' OR (j.why = 'done' AND p_kind = 'task')) AND p_mode = 'all' THEN 'reopen'
                ELSE 'skip' END,
           j.why, CASE WHEN known THEN run_row.run_no END, CASE WHEN known THEN run_row.run_id END, place, j.task_id
    FROM judged j ORDER BY j.n;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.replay_judge(int, text, text, uuid, bigint, bigint[], bigint[], text[], boolean)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.replay_judge(int, text, text, uuid, bigint, bigint[], bigint[], text[], boolean)
    TO lockstep_executor, lockstep_operator, lockstep_monitor;
