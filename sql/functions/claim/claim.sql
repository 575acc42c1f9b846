-- Claim: the next messages of one phase become tasks of one executor, in the transaction that moves the cursor past
-- them. All decisions are made under the lock of the queue's row, and while it is held the claim waits for no other
-- lock: S(phase) and the phase row are only tried. The caller sends a segment of its buffer, whose records share their
-- tags, so these are checked once. If another executor has claimed the head of the segment meanwhile, the rest of it is
-- claimed.
--
-- p_buffer_from: the offset from which the caller's buffer is complete. A cursor below it has gone back (fail-over,
-- restore): no record is claimed, or messages would be lost.
--
-- p_held: the phases of which the caller has S.
--
-- p_parking: the caller believes that the run is paused and sends more records than its readers can run; if the run is
-- not paused, no record is claimed (resumed).
--
-- p_in_stretches: the tasks are short. Then, while the run's last phase waits to be opened, the next phase is left to
-- the executors that have S of the last one: a barrier inside one executor takes half the time of a barrier between
-- two. This holds only while an executor owns a task of the last phase: that executor opens it, and lockstep.opened
-- wakes the others; the function that removes its last task of the phase wakes them, too. It does not hold where runs
-- are concurrent, because another run may be behind.
--
-- Most segments continue the last phase of their run or begin the next one. claim_judge decides about all others
-- (another run, the end, wrong records). claim_begin makes a new phase or run. claim_continued checks the phase that
-- continues.
--
-- verdict   claimed     task_ids and tokens are the caller's; the tasks may start if is_open. These tasks have no token
--                       and no owner: external tasks (workers ask for them, next_task), tasks that are not due yet,
--                       tasks that may run only after a failure and whose phase is closed (adopted when it is open),
--                       tasks that are finished already (duplicates of a key)
--           cancelled   the run has failed before: the messages are recorded as cancelled; tasks that run in spite of
--                       that have no owner
--           parked      the run is paused, and the runs behind it need not wait: the messages are recorded without an
--                       owner and adopted when the run continues. S is not acquired: the effect is as if the caller had
--                       died after the claim
--           resumed     call again without p_parking
--           rejected    the records are in rejected_message
--           bare        the record would be rejected; nothing was written: call again with keys and headers
--           ended       an end was claimed
--           moved       the cursor is past the whole segment, or now is: retention has deleted its run, which an
--                       operator had cancelled, and the messages are only counted
--           behind      the cursor went back
--           lookahead   enough phases wait already
--           others      other executors have the last phase and continue
--           busy        try again in a moment
--           paused, halted
CREATE OR REPLACE FUNCTION lockstep.claim(
    p_queue_id int, p_executor_no int, p_buffer_from bigint, p_segment lockstep.segment, p_held bigint[],
    p_parking boolean DEFAULT false, p_in_stretches boolean DEFAULT false,
    OUT verdict text, OUT next_offset bigint, OUT phase_id bigint, OUT run_no bigint, OUT is_open boolean,
    OUT took_shared boolean, OUT task_ids bigint[], OUT tokens uuid[], OUT note text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    head int := 1;           -- the first record of the segment that is not claimed yet
    last int := pg_catalog.cardinality(p_segment.offsets);
    is_task CONSTANT boolean := p_segment.kind = 'task';
    is_implicit CONSTANT boolean := p_segment.run IS NULL;
    task_type CONSTANT text := CASE WHEN is_task THEN lockstep.payload_type(p_segment.payloads[last]) END;
    external CONSTANT boolean := task_type IS NOT DISTINCT FROM 'external';
    queue_row record;
    run_row record;
    fresh boolean;           -- the segment begins a phase; this and the next ones: see claim_judge
    begins boolean := false;
    loose bigint[] := '{}'; loss text;
    stopped boolean;
    spared boolean;          -- stopped, but some of it runs in spite of that
    parked boolean;          -- the run is paused, its runs are concurrent
    in_vain boolean;         -- the phase is open and nothing failed before it
    due timestamptz[]; conditions text[]; keys text[]; -- of each record: see claim_special
    conditional boolean := false;
BEGIN
    took_shared := false; is_open := false;
    SELECT queue.next_offset AS cursor, lookahead, runs, COALESCE(max_attempts, default_attempts, 3) AS max_attempts,
           paused, halted_reason, implicit_run_no, epoch
    INTO STRICT queue_row
    FROM lockstep.queue WHERE queue_id = p_queue_id FOR NO KEY UPDATE; -- serialises claims: no offset is claimed twice
    next_offset := queue_row.cursor;
    verdict := CASE WHEN queue_row.halted_reason IS NOT NULL THEN 'halted' WHEN queue_row.paused THEN 'paused'
                    WHEN queue_row.cursor < p_buffer_from THEN 'behind'
                    WHEN p_segment.offsets[last] < queue_row.cursor THEN 'moved' END;
    IF verdict IS NOT NULL THEN
        RETURN;
    END IF;
    WHILE p_segment.offsets[head] < queue_row.cursor LOOP
        head := head + 1;
    END LOOP;
    IF p_segment.special AND is_task THEN
        SELECT c.due, c.conditions, c.keys INTO due, conditions, keys
        FROM lockstep.claim_special(p_segment.payloads) AS c;
        conditional := pg_catalog.array_remove(conditions[head:last], NULL) <> '{}';
    END IF;
    -- := evaluates the call as an expression; SELECT ... INTO runs it as a query, which costs 2 us more.
    run_row := lockstep.claim_place(p_queue_id, p_segment.run, queue_row.implicit_run_no, queue_row.epoch,
                                    p_segment."order", p_segment.previous, p_segment.seqs[head]);
    run_no := run_row.run_no; fresh := run_row.fresh;
    IF (is_task AND run_row.in_order) IS NOT TRUE THEN
        SELECT j.verdict, j.fresh, j.begins, j.loose, j.loss, j.run_no, j.phase_id,
               COALESCE(j.next_offset, queue_row.cursor), j.note
        INTO verdict, fresh, begins, loose, loss, run_no, phase_id, next_offset, note
        FROM lockstep.claim_judge(p_queue_id, p_executor_no, p_segment, head, run_no) AS j;
        IF verdict IS NOT NULL THEN
            RETURN;
        END IF;
    END IF;
    -- The checks that may end with "not now" come before the first write.
    stopped := loss IS NOT NULL
               OR (run_no IS NOT NULL AND NOT begins AND run_row.stop_after IS NOT NULL
                   AND (fresh OR p_segment."order" > run_row.stop_after));
    -- 0: messages are missing, or an operator cancelled the run
    spared := stopped AND conditional AND loss IS NULL AND run_row.stop_after > 0;
    parked := p_executor_no IS NOT NULL AND queue_row.runs = 'concurrent' AND NOT is_implicit
              AND COALESCE(run_row.paused_by IS NOT NULL OR run_row.status = 'Paused', false);
    IF fresh AND (NOT stopped OR spared) AND NOT parked THEN
        verdict := lockstep.claim_ahead(p_queue_id, queue_row.lookahead,
                                        p_in_stretches AND run_no IS NOT NULL AND queue_row.runs = 'serial',
                                        run_row.last_phase_id, p_held);
    ELSIF NOT fresh THEN
        phase_id := run_row.last_phase_id;
        SELECT c.verdict, c.is_open, c.parked, c.took_shared INTO verdict, is_open, parked, took_shared
        FROM lockstep.claim_continued(
            run_no, phase_id, p_looks => NOT stopped OR spared, p_parked => parked,
            p_held_back => run_row.paused_by IS NOT NULL,
            p_shares => NOT stopped AND NOT p_parking AND NOT phase_id = ANY (p_held)) AS c;
    END IF;
    verdict := COALESCE(verdict, CASE WHEN p_parking AND NOT parked AND NOT stopped THEN 'resumed' END);
    IF verdict IS NOT NULL THEN
        is_open := COALESCE(is_open AND verdict <> 'resumed', false);
        RETURN;
    END IF;
    IF fresh OR loss IS NOT NULL OR loose <> '{}' THEN
        SELECT b.run_no, COALESCE(b.phase_id, claim.phase_id), COALESCE(b.is_open, claim.is_open),
               COALESCE(b.took_shared, claim.took_shared), b.stopped, b.spared
        INTO run_no, phase_id, is_open, took_shared, stopped, spared
        FROM lockstep.claim_begin(p_queue_id, p_executor_no, p_segment, head, CASE WHEN NOT begins THEN run_no END,
                                  fresh, loose, loss, stopped, parked, conditional) AS b;
    ELSIF external OR conditional THEN
        PERFORM lockstep.claim_widen(phase_id, external, conditional, spared);
    END IF;
    -- The tasks. A condition is judged here where the phase is open, else when it opens.
    in_vain := CASE WHEN conditional AND is_open THEN NOT lockstep.run_failed_before(run_no, p_segment."order")
                    ELSE false END;
    WITH made AS (
        INSERT INTO lockstep.task (phase_id, run_no, queue_id, status, type, "order", seq, kafka_offset, name, payload,
                                   traceparent, executor_no, token, attempt_num, max_attempts, condition, key,
                                   scheduled_for, skipped, error)
        SELECT claim.phase_id, claim.run_no, p_queue_id, w.status, task_type, p_segment."order", w.seq, w.kafka_offset,
               w.name, w.payload, w.traceparent, CASE WHEN w.taken THEN p_executor_no END,
               CASE WHEN w.taken THEN pg_catalog.gen_random_uuid() END, CASE w.status WHEN 'Pending' THEN 1 ELSE 0 END,
               COALESCE(w.max_attempts, queue_row.max_attempts), w.condition, w.key, w.due,
               CASE WHEN w.vain THEN 'condition' END, CASE WHEN w.vain THEN 'not needed: nothing before it failed' END
        FROM lockstep.claim_rows(p_segment, head, last, due, conditions, keys, stopped, spared, in_vain,
                                 NOT stopped AND NOT parked AND NOT external AND p_executor_no IS NOT NULL,
                                 is_open) AS w
        RETURNING task_id, token, kafka_offset)
    SELECT pg_catalog.array_agg(made.task_id ORDER BY made.kafka_offset),
           pg_catalog.array_agg(made.token ORDER BY made.kafka_offset)
    INTO task_ids, tokens FROM made;
    IF pg_catalog.array_remove(keys[head:last], NULL) <> '{}' AND (NOT stopped OR spared) THEN
        tokens := lockstep.key_skip(p_queue_id, run_no, task_ids);
    END IF;
    PERFORM lockstep.claim_counted(run_no, phase_id, last - head + 1, fresh, parked, p_segment."order",
                                   p_segment.previous, CASE WHEN NOT is_implicit THEN p_segment.seqs[last] + 1 END);
    next_offset := lockstep.cursor_advance(p_queue_id, p_segment.offsets[last], p_segment.last_timestamp,
                                           p_segment.last_digest);
    verdict := CASE WHEN stopped THEN 'cancelled' WHEN parked THEN 'parked' ELSE 'claimed' END;
    IF took_shared THEN -- last, because it is not undone when a statement of this transaction fails
        PERFORM lockstep.keep_shared(phase_id);
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.claim TO lockstep_executor;
