-- Claim: the next messages of one phase become tasks of one executor, in the transaction that moves the cursor past them.
-- Everything is decided under the lock of the queue's row, and nothing is waited for while it is held: S(phase) and the
-- phase row are only tried. The caller sends a segment of its buffer, whose records share their tags, so these are checked once.
-- Another executor may have claimed the head of the segment meanwhile; then the rest of it is claimed.
--
-- p_buffer_from: the offset from which the caller's buffer is complete. A cursor below it has gone back (fail-over,
-- restore): nothing is claimed, or messages would be lost.
--
-- p_held: the phases of which the caller has S.
--
-- p_parking: the caller takes the run for paused and sends more than its readers can do; if it is not, nothing is claimed (resumed).
--
-- p_in_stretches: the tasks are short. Then, while the run's last phase waits to be opened, the next one is left to those who have S of that:
-- a barrier inside one executor takes half the time of one between two. Only while somebody owns a task of it, for he opens it, and
-- lockstep.opened wakes the others; whatever takes him the last one wakes them, too. Not where runs are concurrent: another run may be behind.
--
-- verdict   claimed     task_ids and tokens are the caller's; is_open tells whether they may start. Without a token and nobody's: external
--                       tasks (workers ask for them, next_task), what is not due yet, what may run only after a failure and whose
--                       phase is closed (adopted when it is open), what is finished already: duplicates of a key
--           cancelled   the run has failed before: the messages are recorded, nothing is to be done; what runs all the same is nobody's
--           parked      the run is paused, and those behind it need not wait: the messages are recorded and nobody's, to be adopted when it
--                       goes on. No S is taken: it is as if the caller had died after the claim
--           resumed     come again without p_parking
--           rejected    the records are in rejected_message
--           bare        it would be rejected; nothing was written: come again with keys and headers
--           ended       an end was taken
--           moved       the cursor is past the whole segment      behind   the cursor went back
--           lookahead   enough phases wait already (note: full), or others have the last one and go on
--           busy        try again in a moment
--           paused, halted
CREATE OR REPLACE FUNCTION lockstep.claim(
    p_queue_id int, p_executor_no int, p_buffer_from bigint, p_segment lockstep.segment, p_held bigint[],
    p_parking boolean DEFAULT false, p_in_stretches boolean DEFAULT false,
    OUT verdict text, OUT next_offset bigint, OUT phase_id bigint, OUT run_no bigint, OUT is_open boolean,
    OUT took_shared boolean, OUT task_ids bigint[], OUT tokens uuid[], OUT note text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
<<own>>
DECLARE
    queue_row record;
    run_row record;
    known boolean := false;  -- the run was seen before
    head int := 1;           -- the first record of the segment that is not claimed yet
    last int := pg_catalog.cardinality(p_segment.offsets);
    head_offset bigint;
    head_seq bigint;
    gap bigint := 0;         -- sequence numbers that are missing
    loose bigint[] := '{}';  -- rejected records, not counted yet, that may account for them
    fresh boolean := false;  -- the segment begins a phase
    refused text;            -- why the tags are wrong
    loss text;
    left_open boolean;       -- the implicit run is one of an earlier epoch: nothing of this one belongs to it
    stopped boolean;
    parked boolean;          -- the run is paused, its runs are concurrent
    spared boolean;          -- stopped, but some of it runs in spite of that
    due timestamptz[];       -- of each record: not before,
    conditions text[];       -- always, failure,
    keys text[];             -- idempotency key
    conditional boolean := false;
    in_vain boolean := false; -- the phase is open and nothing failed before it
    is_task CONSTANT boolean := p_segment.kind = 'task';
    is_implicit CONSTANT boolean := p_segment.run IS NULL;
    -- Of all of the segment. Where none is written, what there is to do tells it, as in the codec.
    task_type CONSTANT text := CASE WHEN is_task THEN COALESCE(p_segment.payloads[last]::json ->> 'type',
        CASE WHEN p_segment.payloads[last]::json -> 'sql' IS NOT NULL THEN 'sql' WHEN p_segment.payloads[last]::json -> 'command' IS NOT NULL THEN 'command'
             WHEN p_segment.payloads[last]::json -> 'url' IS NOT NULL THEN 'http' ELSE 'sql' END) END;
    external CONSTANT boolean := task_type IS NOT DISTINCT FROM 'external';
BEGIN
    took_shared := false;
    is_open := false;
    SELECT queue.next_offset AS cursor, lookahead, on_failure, runs, COALESCE(max_attempts, default_attempts, 3) AS max_attempts, paused, halted_reason, last_run_no,
           implicit_run_no, epoch, unknown_at INTO STRICT queue_row
    FROM lockstep.queue WHERE queue_id = p_queue_id FOR NO KEY UPDATE; -- serialises claims: no offset is claimed twice
    next_offset := queue_row.cursor;
    verdict := CASE WHEN queue_row.halted_reason IS NOT NULL THEN 'halted' WHEN queue_row.paused THEN 'paused'
                    WHEN queue_row.cursor < p_buffer_from THEN 'behind' WHEN p_segment.offsets[last] < queue_row.cursor THEN 'moved' END;
    IF verdict IS NOT NULL THEN
        RETURN;
    END IF;
    WHILE p_segment.offsets[head] < queue_row.cursor LOOP
        head := head + 1;
    END LOOP;
    head_offset := p_segment.offsets[head];
    head_seq := p_segment.seqs[head];
    IF p_segment.special AND is_task THEN
        SELECT c.due, c.conditions, c.keys INTO due, conditions, keys FROM lockstep.claim_special(p_segment.payloads) AS c;
        conditional := pg_catalog.array_remove(conditions[head:last], NULL) <> '{}';
    END IF;

    SELECT run.run_no, run_id, next_seq, last_phase_id, last_order, last_previous_order, end_offset,
           stop_after, first_offset, after_run_no, events, status, paused_by, epoch INTO run_row
    FROM lockstep.run
    WHERE run.run_no = CASE WHEN is_implicit THEN queue_row.implicit_run_no -- so that each way has an index, also in a generic plan
                            ELSE (SELECT b.run_no FROM lockstep.run b WHERE b.queue_id = p_queue_id AND b.run_id = p_segment.run) END;
    known := FOUND AND run_row.first_offset IS NOT NULL; -- a row without an offset was made by its producer
    left_open := known AND is_implicit AND run_row.epoch <> queue_row.epoch;
    known := known AND NOT left_open;
    run_no := CASE WHEN known THEN run_row.run_no END;

    IF p_segment.kind = 'reject' THEN -- a record that is no message
        PERFORM lockstep.claim_unreadable(p_queue_id, p_executor_no, queue_row.epoch, p_segment, head, run_no,
            p_counts => known AND NOT is_implicit AND run_row.end_offset IS NULL AND head_seq = run_row.next_seq);
        verdict := 'rejected';
        next_offset := lockstep.cursor_advance(p_queue_id, head_offset, p_segment.last_timestamp, p_segment.last_digest);
        RETURN;
    END IF;

    -- The sequence within a run: dense from 0.
    IF is_implicit THEN
        NULL;
    ELSIF known AND head_seq < run_row.next_seq THEN -- duplicates, up to where the new ones begin
        last := LEAST(last, head + run_row.next_seq - 1 - head_seq); -- in bigint: the difference may be large
        refused := 'duplicate';
    ELSIF known AND run_row.end_offset IS NOT NULL THEN
        refused := 'late';
    ELSE
        gap := head_seq - CASE WHEN known THEN run_row.next_seq ELSE 0 END;
    END IF;
    IF gap > 0 THEN
        loose := lockstep.claim_loose(p_queue_id, queue_row.epoch, queue_row.last_run_no, run_no, head_offset, gap);
        IF gap > pg_catalog.cardinality(loose) AND NOT known AND queue_row.unknown_at IS DISTINCT FROM head_offset THEN
            note := lockstep.claim_unknown_run(p_queue_id, p_executor_no, p_segment.run, head_seq, head_offset);
            verdict := 'halted';
            RETURN;
        ELSIF gap > pg_catalog.cardinality(loose) THEN
            loss := CASE WHEN known THEN pg_catalog.format('messages are lost: after seq %s came seq %s (offset %s)', run_row.next_seq - 1, head_seq, head_offset)
                         ELSE pg_catalog.format('messages are lost: the run begins with seq %s (offset %s)', head_seq, head_offset) END;
        END IF;
    END IF;

    -- The tags. known is false for the first message of a run; the implicit run is the state machine of the documentation.
    fresh := COALESCE(is_task AND is_implicit AND p_segment.previous = 0
                      AND (NOT known OR p_segment."order" <> run_row.last_order OR run_row.last_previous_order <> 0), false);
    IF refused IS NULL AND fresh AND head > 1 THEN -- the name of the new run comes from its first offset: have it computed again
        verdict := 'moved';
        RETURN;
    ELSIF refused IS NULL AND is_task AND NOT fresh THEN
        fresh := NOT known OR run_row.last_phase_id IS NULL OR p_segment."order" <> run_row.last_order;
        refused := CASE WHEN NOT known OR run_row.last_phase_id IS NULL THEN CASE WHEN p_segment.previous <> 0 THEN 'hole' END
                        WHEN NOT fresh THEN CASE WHEN p_segment.previous <> run_row.last_previous_order THEN 'contradiction' END
                        WHEN p_segment.previous <> run_row.last_order THEN CASE WHEN p_segment."order" < run_row.last_order THEN 'late' ELSE 'hole' END END;
    ELSIF p_segment.kind = 'end' AND is_implicit AND NOT known THEN
        refused := 'hole';
    END IF;
    IF refused IS NOT NULL THEN
        IF p_segment.withheld THEN
            verdict := 'bare';
        ELSE
            run_no := lockstep.claim_refuse(p_queue_id, p_executor_no, queue_row.epoch, p_segment, head, last, refused, run_no, gap, loose, loss);
            verdict := 'rejected';
            -- The digest is that of the segment's last record; without it the identity rests on the record before.
            next_offset := CASE WHEN last = pg_catalog.cardinality(p_segment.offsets)
                                THEN lockstep.cursor_advance(p_queue_id, p_segment.offsets[last], p_segment.last_timestamp, p_segment.last_digest)
                                ELSE lockstep.cursor_advance(p_queue_id, p_segment.offsets[last], NULL, NULL) END;
        END IF;
        RETURN;
    END IF;

    -- What may say "not now" comes before the first write.
    stopped := loss IS NOT NULL OR (known AND run_row.stop_after IS NOT NULL AND (fresh OR p_segment."order" > run_row.stop_after)
                                    AND NOT (is_implicit AND p_segment.previous = 0));
    spared := stopped AND conditional AND loss IS NULL AND run_row.stop_after > 0; -- 0: messages are missing, or an operator cancelled the run
    parked := p_executor_no IS NOT NULL AND queue_row.runs = 'concurrent' AND NOT is_implicit
              AND COALESCE(run_row.paused_by IS NOT NULL OR run_row.status = 'Paused', false);
    IF is_task AND fresh AND (NOT stopped OR spared) AND NOT parked THEN
        IF lockstep.phases_ahead(p_queue_id, queue_row.lookahead) >= queue_row.lookahead THEN
            verdict := 'lookahead';
            note := 'full';
        ELSIF p_in_stretches AND known AND queue_row.runs = 'serial' AND run_row.last_phase_id <> ALL (p_held) THEN
            SELECT 'lookahead' INTO verdict FROM lockstep.phase l JOIN lockstep.task t USING (phase_id)
            WHERE l.phase_id = run_row.last_phase_id AND l.opened_at IS NULL AND l.done_at IS NULL
              AND t.executor_no IS NOT NULL AND t.status IN ('Pending', 'Error', 'Processing')
            LIMIT 1;
        END IF;
    ELSIF is_task AND NOT fresh AND (NOT stopped OR spared) THEN
        phase_id := run_row.last_phase_id;
        -- The run before its phase, as a gate that opens the first phase of a run locks them: this transaction writes the run at its end,
        -- and by then has the phase. What was read of the run cannot have changed: that takes the queue's row.
        PERFORM FROM lockstep.run b WHERE b.run_no = run_row.run_no FOR NO KEY UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            verdict := 'busy';
            RETURN;
        END IF;
        -- Under FOR SHARE: a retry that closes the phase again is wholly before or wholly after this look. Skipped, not
        -- waited for: a gate may be holding the row.
        SELECT p.opened_at IS NOT NULL INTO is_open FROM lockstep.phase p WHERE p.phase_id = claim.phase_id FOR SHARE SKIP LOCKED;
        IF NOT FOUND THEN
            is_open := false;
            verdict := 'busy';
            RETURN;
        END IF;
        parked := parked AND (run_row.paused_by IS NOT NULL OR NOT is_open); -- under its policy what is open goes on
        IF NOT stopped AND NOT parked AND NOT p_parking AND NOT phase_id = ANY (p_held) THEN
            took_shared := lockstep.lock_shared_xact(phase_id);
            verdict := CASE WHEN NOT took_shared THEN 'busy' END;
        END IF;
    END IF;
    IF verdict IS NULL AND p_parking AND NOT parked AND is_task AND NOT stopped THEN
        is_open := false;
        verdict := 'resumed';
    END IF;
    IF verdict IS NOT NULL THEN
        RETURN;
    END IF;

    -- The run.
    IF is_implicit AND fresh AND is_task AND p_segment.previous = 0 THEN
        IF known OR left_open THEN
            UPDATE lockstep.run SET end_offset = CASE WHEN known THEN head_offset ELSE first_offset END WHERE run.run_no = run_row.run_no;
            PERFORM lockstep.run_finish(run_row.run_no);
        END IF;
        run_no := lockstep.run_start(p_queue_id, lockstep.implicit_run_id(p_segment.implicit, queue_row.epoch), true, head_offset);
        known := false;
    ELSIF NOT known THEN
        run_no := lockstep.run_start(p_queue_id, p_segment.run, false, head_offset, CASE WHEN is_task THEN p_segment.payloads[head] END);
    END IF;
    IF NOT known THEN
        SELECT run.run_no, run_id, next_seq, last_phase_id, stop_after, after_run_no, events INTO STRICT run_row FROM lockstep.run WHERE run.run_no = claim.run_no;
        stopped := stopped OR run_row.stop_after IS NOT NULL; -- an operator cancelled it before its first message was claimed
    END IF;
    IF loss IS NOT NULL THEN
        PERFORM lockstep.run_stop(run_no, 0, loss);
    ELSIF gap > 0 THEN
        UPDATE lockstep.rejected_message m SET run_no = claim.run_no WHERE m.rejected_id = ANY (loose);
        PERFORM lockstep.run_reject(run_no, gap);
        SELECT stop_after INTO run_row.stop_after FROM lockstep.run WHERE run.run_no = claim.run_no;
        stopped := stopped OR (run_row.stop_after IS NOT NULL AND p_segment."order" > run_row.stop_after);
    END IF;
    IF p_segment.kind = 'end' THEN
        note := lockstep.claim_end(p_queue_id, p_segment, head, run_no, loss);
        verdict := 'ended';
        next_offset := lockstep.cursor_advance(p_queue_id, head_offset, p_segment.last_timestamp, p_segment.last_digest);
        phase_id := run_row.last_phase_id;
        RETURN;
    END IF;

    -- The phase. The first phase of a run that waits for nobody is open from the start.
    spared := stopped AND conditional AND loss IS NULL AND run_row.stop_after > 0;
    IF fresh THEN
        is_open := run_row.last_phase_id IS NULL AND run_row.after_run_no IS NULL AND NOT stopped AND NOT parked;
        INSERT INTO lockstep.phase (run_no, queue_id, "order", previous_order, previous_phase_id, external, conditional, events, opened_at, done_at)
        VALUES (run_no, p_queue_id, p_segment."order", p_segment.previous, run_row.last_phase_id, external, conditional, run_row.events,
                CASE WHEN is_open THEN pg_catalog.clock_timestamp() END, CASE WHEN stopped AND NOT spared THEN pg_catalog.clock_timestamp() END)
        RETURNING phase.phase_id INTO phase_id;
        IF is_open THEN
            UPDATE lockstep.run SET started_at = COALESCE(started_at, pg_catalog.clock_timestamp()) WHERE run.run_no = claim.run_no;
            INSERT INTO lockstep.event_log (event, queue_id, run_no, phase_id, executor_no, detail)
            VALUES ('phase_opened', p_queue_id, run_no, phase_id, p_executor_no, pg_catalog.format('order %s', p_segment."order"));
        END IF;
        IF NOT stopped AND NOT parked THEN
            took_shared := lockstep.lock_shared_xact(phase_id);
            IF NOT took_shared THEN -- no executor can know of the phase yet
                PERFORM lockstep.claim_barred(phase_id);
            END IF;
        END IF;
    ELSE
        phase_id := run_row.last_phase_id;
        IF external OR conditional THEN -- all of it so far was cancelled: then it was done; nothing is claimed behind it yet
            UPDATE lockstep.phase p
            SET external = p.external OR own.external, conditional = p.conditional OR own.conditional,
                done_at = CASE WHEN NOT spared OR p.opened_at IS NOT NULL THEN p.done_at END
            WHERE p.phase_id = claim.phase_id
              AND (p.external <> (p.external OR own.external) OR p.conditional <> (p.conditional OR own.conditional)
                   OR (spared AND p.done_at IS NOT NULL));
        END IF;
    END IF;

    -- The tasks. A condition is judged here where the phase is open, else when it opens.
    IF conditional AND is_open THEN
        in_vain := NOT lockstep.run_failed_before(run_no, p_segment."order");
    END IF;
    WITH made AS (
        INSERT INTO lockstep.task (phase_id, run_no, queue_id, status, type, "order", seq, kafka_offset, name, payload, traceparent,
                                   executor_no, token, attempt_num, max_attempts, condition, key, scheduled_for, skipped, error)
        SELECT claim.phase_id, claim.run_no, p_queue_id, w.status,
               task_type, p_segment."order", m.s, m.o, m.n, m.p, m.t,
               CASE WHEN w.ours THEN p_executor_no END, CASE WHEN w.ours THEN pg_catalog.gen_random_uuid() END,
               CASE w.status WHEN 'Pending' THEN 1 ELSE 0 END, COALESCE(m.a, queue_row.max_attempts), m.c, m.k, m.d,
               CASE WHEN w.vain THEN 'condition' END, CASE WHEN w.vain THEN 'not needed: nothing before it failed' END
        FROM ROWS FROM (pg_catalog.unnest(p_segment.offsets[head:last]), pg_catalog.unnest(p_segment.seqs[head:last]),
                        pg_catalog.unnest(p_segment.payloads[head:last]), pg_catalog.unnest(p_segment.names[head:last]),
                        pg_catalog.unnest(p_segment.max_attempts[head:last]), pg_catalog.unnest(p_segment.traceparents[head:last]),
                        pg_catalog.unnest(due[head:last]), pg_catalog.unnest(conditions[head:last]), pg_catalog.unnest(keys[head:last]))
             AS m (o, s, p, n, a, t, d, c, k)
        CROSS JOIN LATERAL (SELECT in_vain AND m.c = 'failure' AS vain, stopped AND NOT (spared AND m.c IS NOT NULL) AS cancelled) AS v
        CROSS JOIN LATERAL (
            SELECT CASE WHEN v.vain OR v.cancelled THEN 'Cancelled' ELSE 'Pending' END::lockstep.status AS status, COALESCE(v.vain, false) AS vain,
                   NOT stopped AND NOT parked AND NOT external AND p_executor_no IS NOT NULL AND v.vain IS NOT TRUE
                   AND (m.d IS NULL OR m.d <= pg_catalog.clock_timestamp()) AND (m.c IS DISTINCT FROM 'failure' OR is_open) AS ours) AS w
        RETURNING task_id, token, kafka_offset)
    SELECT pg_catalog.array_agg(made.task_id ORDER BY made.kafka_offset), pg_catalog.array_agg(made.token ORDER BY made.kafka_offset)
    INTO task_ids, tokens FROM made;
    IF pg_catalog.array_remove(keys[head:last], NULL) <> '{}' AND (NOT stopped OR spared) THEN
        PERFORM lockstep.key_skip(p_queue_id, run_row.run_id, task_ids);
        SELECT pg_catalog.array_agg(t.token ORDER BY t.kafka_offset) INTO tokens FROM lockstep.task t WHERE t.task_id = ANY (task_ids);
    END IF;

    UPDATE lockstep.run SET next_seq = CASE WHEN is_implicit THEN next_seq ELSE p_segment.seqs[last] + 1 END, tasks = tasks + (last - head + 1),
        phases = phases + CASE WHEN fresh THEN 1 ELSE 0 END, last_phase_id = claim.phase_id, last_order = p_segment."order",
        last_previous_order = p_segment.previous, parked_order = CASE WHEN parked THEN p_segment."order" ELSE parked_order END
    WHERE run.run_no = claim.run_no;
    next_offset := lockstep.cursor_advance(p_queue_id, p_segment.offsets[last], p_segment.last_timestamp, p_segment.last_digest);
    verdict := CASE WHEN stopped THEN 'cancelled' WHEN parked THEN 'parked' ELSE 'claimed' END;
    IF spared THEN
        PERFORM pg_catalog.pg_notify('lockstep_' || p_queue_id, 'work');
    END IF;
    IF external AND is_open THEN
        PERFORM pg_catalog.pg_notify('lockstep_external', (SELECT queue.name FROM lockstep.queue WHERE queue_id = p_queue_id));
    END IF;
    IF took_shared THEN -- last, because it is not undone when a statement of this transaction fails
        PERFORM lockstep.keep_shared(phase_id);
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.claim TO lockstep_executor;
