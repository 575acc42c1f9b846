-- Claim: the next messages of one phase become tasks of one executor, in the transaction that moves the cursor past them.
-- Everything is decided under the lock of the queue's row, and nothing is waited for while it is held: S(phase) and the
-- phase row are only tried. The caller sends a segment of its buffer: records that follow each other and share kind, run,
-- order and previous order, so the tags are checked once. Another executor may have claimed the head of the segment
-- meanwhile; then the rest of it is claimed.
--
-- p_buffer_from: the offset from which the caller's buffer is complete. A cursor below it has gone back (fail-over,
-- restore): nothing is claimed, or messages would be lost.
--
-- p_keys, p_headers...: what a rejected message keeps beside its value; a task needs none of it. So a segment comes without
-- (p_withheld tells that there is something), and is asked for again when it is to be rejected. A header is one row of the
-- three arrays: offset of its message, name, value.
--
-- p_parking: the caller takes the run for paused and sends more than its readers can do; if it is not, nothing is claimed (resumed).
--
-- p_in_stretches: the tasks are short. Then, while the run's last phase waits to be opened, the next one is left to those who have S of that:
-- a barrier inside one executor takes half the time of one between two. Only while somebody owns a task of it, for he opens it, and
-- lockstep.opened wakes the others; whatever takes him the last one wakes them, too. Not where runs are concurrent: another run may be behind.
--
-- p_special: the segment may have messages with a condition, a key or a not_before; the text is looked at for them.
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
    p_queue_id int, p_executor_no int, p_buffer_from bigint, p_kind text, p_run uuid, p_implicit uuid,
    p_order bigint, p_previous bigint, p_offsets bigint[], p_seqs bigint[], p_payloads text[], p_names text[],
    p_max_attempts int[], p_traceparents text[], p_timestamp bigint, p_digest bytea, p_held bigint[],
    p_reason text, p_detail text, p_raw bytea, p_keys bytea[], p_end_tasks bigint, p_end_phases bigint, p_aborted boolean,
    p_header_offsets bigint[] DEFAULT NULL, p_header_names text[] DEFAULT NULL, p_header_values bytea[] DEFAULT NULL,
    p_withheld boolean DEFAULT false, p_special boolean DEFAULT false,
    p_parking boolean DEFAULT false, p_in_stretches boolean DEFAULT false,
    OUT verdict text, OUT next_offset bigint, OUT phase_id bigint, OUT run_no bigint, OUT is_open boolean,
    OUT took_shared boolean, OUT task_ids bigint[], OUT tokens uuid[], OUT note text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
<<own>>
DECLARE
    takers text; -- who has locks that only executors take
    q record;
    r record;
    known boolean := false;  -- the run was seen before
    head int := 1;           -- the first record of the segment that is not claimed yet
    last int := pg_catalog.cardinality(p_offsets);
    seq bigint;
    gap bigint := 0;         -- sequence numbers that are missing
    gap_most CONSTANT bigint := 10000; -- more at once are loss, whatever was rejected: they would be looked for under the lock of the queue's row
    since bigint;            -- and behind this offset
    loose bigint[] := '{}';  -- rejected records, not counted yet, that may account for them
    fresh boolean;           -- the segment begins a phase
    refused text;            -- why the tags are wrong
    loss text;
    left_open boolean := false; -- the implicit run is one of an earlier epoch: nothing of this one belongs to it
    stopped boolean;
    parked boolean;          -- the run is paused, its runs are concurrent
    spared boolean;          -- stopped, but some of it runs in spite of that
    due timestamptz[];       -- of each record: not before,
    conditions text[];       -- always, failure,
    keys text[];             -- idempotency key
    conditional boolean := false;
    in_vain boolean := false; -- the phase is open and nothing failed before it
    -- Of all of the segment. Where none is written, what there is to do tells it, as in the codec.
    task_type CONSTANT text := CASE WHEN p_kind = 'task' THEN COALESCE(p_payloads[last]::json ->> 'type',
        CASE WHEN p_payloads[last]::json -> 'sql' IS NOT NULL THEN 'sql' WHEN p_payloads[last]::json -> 'command' IS NOT NULL THEN 'command'
             WHEN p_payloads[last]::json -> 'url' IS NOT NULL THEN 'http' ELSE 'sql' END) END;
    external CONSTANT boolean := task_type IS NOT DISTINCT FROM 'external';
BEGIN
    took_shared := false;
    is_open := false;
    SELECT queue.next_offset AS cursor, lookahead, on_failure, runs, COALESCE(max_attempts, default_attempts, 3) AS max_attempts, paused, halted_reason, last_run_no,
           implicit_run_no, epoch, unknown_at INTO STRICT q
    FROM lockstep.queue WHERE queue_id = p_queue_id FOR NO KEY UPDATE; -- serialises claims: no offset is claimed twice
    next_offset := q.cursor;
    verdict := CASE WHEN q.halted_reason IS NOT NULL THEN 'halted' WHEN q.paused THEN 'paused'
                    WHEN q.cursor < p_buffer_from THEN 'behind' WHEN p_offsets[last] < q.cursor THEN 'moved' END;
    IF verdict IS NOT NULL THEN
        RETURN;
    END IF;
    WHILE p_offsets[head] < q.cursor LOOP
        head := head + 1;
    END LOOP;
    seq := p_seqs[head];
    IF p_special AND p_kind = 'task' THEN
        SELECT pg_catalog.array_agg((m.j ->> 'not_before')::timestamptz ORDER BY m.n),
               pg_catalog.array_agg(NULLIF(m.j ->> 'condition', 'success') ORDER BY m.n), pg_catalog.array_agg(m.j ->> 'key' ORDER BY m.n)
        INTO due, conditions, keys
        FROM (SELECT u.p::json AS j, u.n FROM pg_catalog.unnest(p_payloads) WITH ORDINALITY AS u (p, n)) AS m;
        conditional := pg_catalog.array_remove(conditions[head:last], NULL) <> '{}';
    END IF;

    SELECT run.run_no, run_id, next_seq, last_phase_id, last_order, last_previous_order, tasks, phases, rejected, end_offset,
           stop_after, on_failure, first_offset, after_run_no, events, status, paused_by, closed_by, epoch INTO r
    FROM lockstep.run
    WHERE run.run_no = CASE WHEN p_run IS NULL THEN q.implicit_run_no -- so that each way has an index, also in a generic plan
                            ELSE (SELECT b.run_no FROM lockstep.run b WHERE b.queue_id = p_queue_id AND b.run_id = p_run) END;
    known := FOUND AND r.first_offset IS NOT NULL; -- a row without an offset was made by its producer
    IF known AND p_run IS NULL AND r.epoch <> q.epoch THEN
        left_open := true;
        known := false;
    END IF;
    run_no := CASE WHEN known THEN r.run_no END;

    -- A record that is no message. If its run can be read it counts there, else the next seq may show it.
    IF p_kind = 'reject' THEN
        IF known AND p_run IS NOT NULL AND r.end_offset IS NULL AND seq = r.next_seq THEN
            UPDATE lockstep.run SET next_seq = next_seq + 1 WHERE run.run_no = r.run_no;
            PERFORM lockstep.run_reject(r.run_no, 1);
        END IF;
        INSERT INTO lockstep.rejected_message (queue_id, epoch, kafka_offset, run_no, seq, reason, detail, raw, key, header_names, header_values)
        VALUES (p_queue_id, q.epoch, p_offsets[head], CASE WHEN p_run IS NOT NULL THEN run_no END, seq, p_reason, p_detail, p_raw,
                p_keys[head], p_header_names, p_header_values)
        ON CONFLICT (queue_id, epoch, kafka_offset) DO NOTHING; -- a replay was here before
        INSERT INTO lockstep.event_log (event, queue_id, run_no, executor_no, detail)
        VALUES ('message_rejected', p_queue_id, run_no, p_executor_no,
                pg_catalog.format('offset %s: %s: %s', p_offsets[head], p_reason, p_detail));
        verdict := 'rejected';
        next_offset := lockstep.cursor_advance(p_queue_id, p_offsets[head], p_timestamp, p_digest);
        RETURN;
    END IF;

    -- The sequence within a run: dense from 0.
    IF p_run IS NOT NULL THEN
        IF known AND seq < r.next_seq THEN -- duplicates, up to where the new ones begin
            last := LEAST(last, head + r.next_seq - 1 - seq); -- in bigint: the difference may be large
            refused := 'duplicate';
        ELSIF known AND r.end_offset IS NOT NULL THEN
            refused := 'late';
        ELSE
            gap := seq - CASE WHEN known THEN r.next_seq ELSE 0 END;
            IF gap > 0 THEN
                -- Those since the last message of the run; of a run not seen before: since the run before it.
                since := CASE WHEN known AND r.epoch <> q.epoch THEN -1
                    WHEN known THEN GREATEST(r.first_offset, (SELECT pg_catalog.max(t.kafka_offset) FROM lockstep.task t WHERE t.phase_id = r.last_phase_id))
                    ELSE COALESCE((SELECT COALESCE(b.end_offset - (b.closed_by IS NOT NULL)::int, b.first_offset) FROM lockstep.run b
                                   WHERE b.run_no = q.last_run_no AND b.epoch = q.epoch), -1) END;
                IF known AND r.epoch = q.epoch THEN
                    since := GREATEST(since, (SELECT pg_catalog.max(c.kafka_offset) FROM lockstep.rejected_message c
                                              WHERE c.run_no = r.run_no AND c.kafka_offset > since AND c.seq < r.next_seq AND c.reason <> 'duplicate'));
                END IF;
                -- One query for each index (a run's has no queue_id, with which the other could be taken), and none where they cannot be enough:
                -- all that was ever rejected would be read.
                IF gap <= LEAST(gap_most, p_offsets[head] - since - 1) THEN
                    loose := ARRAY(
                        SELECT m.rejected_id
                        FROM ((SELECT n.rejected_id, n.kafka_offset FROM lockstep.rejected_message n
                               WHERE n.queue_id = p_queue_id AND n.epoch = q.epoch AND n.run_no IS NULL
                                 AND n.kafka_offset > since AND n.kafka_offset < p_offsets[head]
                               ORDER BY n.kafka_offset DESC LIMIT gap)
                              UNION ALL
                              (SELECT o.rejected_id, o.kafka_offset FROM lockstep.rejected_message o
                               WHERE o.run_no = r.run_no AND o.seq >= r.next_seq AND o.epoch = q.epoch
                                 AND o.kafka_offset > since AND o.kafka_offset < p_offsets[head]
                               ORDER BY o.kafka_offset DESC LIMIT gap)) AS m
                        ORDER BY m.kafka_offset DESC LIMIT gap);
                END IF;
            END IF;
            IF gap > pg_catalog.cardinality(loose) AND NOT known AND q.unknown_at IS NOT DISTINCT FROM p_offsets[head] THEN
                loss := pg_catalog.format('messages are lost: the run begins with seq %s (offset %s)', seq, p_offsets[head]);
            ELSIF gap > pg_catalog.cardinality(loose) AND NOT known THEN
                UPDATE lockstep.queue SET halted_reason = 'unknown_run', halted_at = pg_catalog.clock_timestamp(), unknown_at = p_offsets[head],
                    halted_detail = pg_catalog.format('offset %s belongs to run %s, of which nothing is known, but has seq %s and not 0: '
                        'the topic was made anew, its beginning is lost, or its producer does not count from 0', p_offsets[head], p_run, seq)
                WHERE queue_id = p_queue_id RETURNING halted_detail INTO note;
                INSERT INTO lockstep.event_log (event, queue_id, executor_no, detail)
                VALUES ('queue_halted', p_queue_id, p_executor_no, 'unknown_run: ' || note);
                PERFORM pg_catalog.pg_notify('lockstep_' || p_queue_id, 'control');
                verdict := 'halted';
                RETURN;
            ELSIF gap > pg_catalog.cardinality(loose) THEN
                loss := pg_catalog.format('messages are lost: after seq %s came seq %s (offset %s)', r.next_seq - 1, seq, p_offsets[head]);
            END IF;
        END IF;
    END IF;

    -- The tags. known is false for the first message of a run; the implicit run is the state machine of the documentation.
    fresh := false;
    IF refused IS NULL AND p_kind = 'task' THEN
        IF p_run IS NULL AND p_previous = 0 AND (NOT known OR p_order <> r.last_order OR r.last_previous_order <> 0) THEN
            IF head > 1 THEN -- the name of the new run comes from its first offset: have it computed again
                verdict := 'moved';
                RETURN;
            END IF;
            fresh := true;
        ELSIF NOT known OR r.last_phase_id IS NULL THEN
            fresh := true;
            refused := CASE WHEN p_previous <> 0 THEN 'hole' END;
        ELSIF p_order = r.last_order THEN
            refused := CASE WHEN p_previous <> r.last_previous_order THEN 'contradiction' END;
        ELSIF p_previous = r.last_order THEN
            fresh := true;
        ELSE
            refused := CASE WHEN p_order < r.last_order THEN 'late' ELSE 'hole' END;
        END IF;
    END IF;
    IF p_kind = 'end' AND p_run IS NULL AND NOT known THEN
        refused := 'hole';
    END IF;

    IF refused IS NOT NULL AND p_withheld THEN
        verdict := 'bare';
        RETURN;
    ELSIF refused IS NOT NULL THEN
        IF p_run IS NOT NULL AND NOT known THEN
            run_no := lockstep.run_start(p_queue_id, p_run, false, p_offsets[head], CASE WHEN p_kind = 'task' THEN p_payloads[head] END);
        END IF;
        IF p_run IS NOT NULL AND refused <> 'duplicate' AND (NOT known OR r.end_offset IS NULL) THEN
            UPDATE lockstep.run SET next_seq = p_seqs[last] + 1 WHERE run.run_no = claim.run_no;
            IF loss IS NOT NULL THEN -- a missing phase makes a hole of what follows; it is loss all the same
                PERFORM lockstep.run_stop(run_no, 0, loss);
                gap := 0;
            ELSE
                UPDATE lockstep.rejected_message m SET run_no = claim.run_no WHERE m.rejected_id = ANY (loose);
            END IF;
            PERFORM lockstep.run_reject(run_no, last - head + 1 + gap);
        END IF;
        INSERT INTO lockstep.rejected_message (queue_id, epoch, kafka_offset, run_no, seq, reason, detail, raw, key, header_names, header_values)
        SELECT p_queue_id, q.epoch, m.o, run_no, m.s, refused,
               CASE WHEN refused = 'duplicate' THEN pg_catalog.format('seq %s of the run was there before', m.s)
                    WHEN known AND r.end_offset IS NOT NULL AND p_run IS NOT NULL
                    THEN CASE WHEN r.closed_by IS NULL THEN pg_catalog.format('the run has ended at offset %s', r.end_offset)
                         ELSE pg_catalog.format('the run was ended by %s, before offset %s', r.closed_by, r.end_offset) END
                    WHEN p_kind = 'end' THEN 'there is no run to end'
                    WHEN NOT known OR r.last_phase_id IS NULL
                    THEN pg_catalog.format('order %s after %s follows nothing: no order was before it', p_order, p_previous)
                    ELSE pg_catalog.format('order %s after %s does not follow order %s after %s', p_order, p_previous,
                                           r.last_order, r.last_previous_order) END,
               pg_catalog.convert_to(m.p, 'UTF8'), m.k, h.names, h.contents
        FROM ROWS FROM (pg_catalog.unnest(p_offsets[head:last]), pg_catalog.unnest(p_seqs[head:last]),
                        pg_catalog.unnest(p_payloads[head:last]), pg_catalog.unnest(p_keys[head:last])) AS m (o, s, p, k)
        LEFT JOIN ( -- not for each record again: there may be many headers
            SELECT a.o, pg_catalog.array_agg(a.name ORDER BY a.n) AS names, pg_catalog.array_agg(a.content ORDER BY a.n) AS contents
            FROM ROWS FROM (pg_catalog.unnest(p_header_offsets), pg_catalog.unnest(p_header_names),
                            pg_catalog.unnest(p_header_values)) WITH ORDINALITY AS a (o, name, content, n)
            GROUP BY a.o) AS h USING (o)
        ORDER BY m.o
        ON CONFLICT (queue_id, epoch, kafka_offset) DO NOTHING;
        INSERT INTO lockstep.event_log (event, queue_id, run_no, executor_no, detail)
        VALUES ('message_rejected', p_queue_id, run_no, p_executor_no,
                pg_catalog.format('offsets %s to %s: %s', p_offsets[head], p_offsets[last], refused));
        verdict := 'rejected';
        -- The digest is that of the segment's last record; without it the identity rests on the record before.
        next_offset := CASE WHEN last = pg_catalog.cardinality(p_offsets)
                            THEN lockstep.cursor_advance(p_queue_id, p_offsets[last], p_timestamp, p_digest)
                            ELSE lockstep.cursor_advance(p_queue_id, p_offsets[last], NULL, NULL) END;
        RETURN;
    END IF;

    -- What may say "not now" comes before the first write.
    stopped := loss IS NOT NULL OR (known AND r.stop_after IS NOT NULL AND (fresh OR p_order > r.stop_after) AND NOT (p_run IS NULL AND p_previous = 0));
    spared := stopped AND conditional AND loss IS NULL AND r.stop_after > 0; -- 0: messages are missing, or an operator cancelled the run
    parked := p_executor_no IS NOT NULL AND q.runs = 'concurrent' AND p_run IS NOT NULL AND COALESCE(r.paused_by IS NOT NULL OR r.status = 'Paused', false);
    IF p_kind = 'task' AND fresh AND (NOT stopped OR spared) AND NOT parked THEN
        IF lockstep.phases_ahead(p_queue_id, q.lookahead) >= q.lookahead THEN
            verdict := 'lookahead';
            note := 'full';
        ELSIF p_in_stretches AND known AND q.runs = 'serial' AND r.last_phase_id <> ALL (p_held) THEN
            SELECT 'lookahead' INTO verdict FROM lockstep.phase l JOIN lockstep.task t USING (phase_id)
            WHERE l.phase_id = r.last_phase_id AND l.opened_at IS NULL AND l.done_at IS NULL
              AND t.executor_no IS NOT NULL AND t.status IN ('Pending', 'Error', 'Processing')
            LIMIT 1;
        END IF;
        IF verdict IS NOT NULL THEN
            RETURN;
        END IF;
    END IF;
    IF p_kind = 'task' AND NOT fresh AND (NOT stopped OR spared) THEN
        phase_id := r.last_phase_id;
        -- The run before its phase, as a gate that opens the first phase of a run locks them: this transaction writes the run at its end,
        -- and by then has the phase. What was read of the run cannot have changed: that takes the queue's row.
        PERFORM FROM lockstep.run b WHERE b.run_no = r.run_no FOR NO KEY UPDATE SKIP LOCKED;
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
        parked := parked AND (r.paused_by IS NOT NULL OR NOT is_open); -- under its policy what is open goes on
        IF NOT stopped AND NOT parked AND NOT p_parking AND NOT phase_id = ANY (p_held) THEN
            took_shared := lockstep.lock_shared_xact(phase_id);
            IF NOT took_shared THEN
                verdict := 'busy';
                RETURN;
            END IF;
        END IF;
    END IF;
    IF p_parking AND NOT parked AND p_kind = 'task' AND NOT stopped THEN
        is_open := false;
        verdict := 'resumed';
        RETURN;
    END IF;

    -- The run.
    IF p_run IS NULL AND fresh AND p_kind = 'task' AND p_previous = 0 THEN
        IF known OR left_open THEN
            UPDATE lockstep.run SET end_offset = CASE WHEN known THEN p_offsets[head] ELSE first_offset END WHERE run.run_no = r.run_no;
            PERFORM lockstep.run_finish(r.run_no);
        END IF;
        run_no := lockstep.run_start(p_queue_id, lockstep.implicit_run_id(p_implicit, q.epoch), true, p_offsets[head]);
        known := false;
    ELSIF NOT known THEN
        run_no := lockstep.run_start(p_queue_id, p_run, false, p_offsets[head], CASE WHEN p_kind = 'task' THEN p_payloads[head] END);
    END IF;
    IF NOT known THEN
        SELECT run.run_no, run_id, next_seq, last_phase_id, last_order, last_previous_order, tasks, phases, rejected, end_offset,
               stop_after, on_failure, first_offset, after_run_no, events, epoch INTO STRICT r
        FROM lockstep.run WHERE run.run_no = claim.run_no;
        stopped := stopped OR r.stop_after IS NOT NULL; -- an operator cancelled it before its first message was claimed
    END IF;
    IF loss IS NOT NULL THEN
        PERFORM lockstep.run_stop(run_no, 0, loss);
    ELSIF gap > 0 THEN
        UPDATE lockstep.rejected_message m SET run_no = claim.run_no WHERE m.rejected_id = ANY (loose);
        PERFORM lockstep.run_reject(run_no, gap);
        SELECT stop_after, rejected INTO r.stop_after, r.rejected FROM lockstep.run WHERE run.run_no = claim.run_no;
        stopped := stopped OR (r.stop_after IS NOT NULL AND p_order > r.stop_after);
    END IF;

    IF p_kind = 'end' THEN
        IF p_aborted THEN
            loss := 'aborted by its producer';
        ELSIF loss IS NULL AND p_run IS NOT NULL AND (p_end_tasks <> r.tasks + r.rejected OR (r.rejected = 0 AND p_end_phases <> r.phases)) THEN
            loss := pg_catalog.format('the end counts %s tasks in %s phases, there were %s in %s', p_end_tasks, p_end_phases,
                                      r.tasks + r.rejected, r.phases);
        END IF;
        IF loss IS NOT NULL THEN
            PERFORM lockstep.run_stop(run_no, 0, loss);
        END IF;
        UPDATE lockstep.run SET end_offset = p_offsets[head], next_seq = CASE WHEN p_run IS NULL THEN next_seq ELSE seq + 1 END, end_tasks = p_end_tasks,
            end_phases = p_end_phases, aborted = p_aborted WHERE run.run_no = claim.run_no;
        IF p_run IS NULL THEN
            UPDATE lockstep.queue SET implicit_run_no = NULL WHERE queue_id = p_queue_id;
        END IF;
        verdict := 'ended';
        next_offset := lockstep.cursor_advance(p_queue_id, p_offsets[head], p_timestamp, p_digest);
        note := lockstep.run_finish(run_no);
        phase_id := r.last_phase_id;
        RETURN;
    END IF;

    -- The phase. The first phase of a run that waits for nobody is open from the start.
    spared := stopped AND conditional AND loss IS NULL AND r.stop_after > 0;
    IF fresh THEN
        is_open := r.last_phase_id IS NULL AND r.after_run_no IS NULL AND NOT stopped AND NOT parked;
        INSERT INTO lockstep.phase (run_no, queue_id, "order", previous_order, previous_phase_id, external, conditional, events, opened_at, done_at)
        VALUES (run_no, p_queue_id, p_order, p_previous, r.last_phase_id, external, conditional, r.events,
                CASE WHEN is_open THEN pg_catalog.clock_timestamp() END, CASE WHEN stopped AND NOT spared THEN pg_catalog.clock_timestamp() END)
        RETURNING phase.phase_id INTO phase_id;
        IF is_open THEN
            UPDATE lockstep.run SET started_at = COALESCE(started_at, pg_catalog.clock_timestamp()) WHERE run.run_no = claim.run_no;
            INSERT INTO lockstep.event_log (event, queue_id, run_no, phase_id, executor_no, detail)
            VALUES ('phase_opened', p_queue_id, run_no, phase_id, p_executor_no, pg_catalog.format('order %s', p_order));
        END IF;
        IF NOT stopped AND NOT parked THEN
            took_shared := lockstep.lock_shared_xact(phase_id);
            IF NOT took_shared THEN -- no executor can know of the phase yet
                takers := COALESCE(lockstep.lock_takers('phase', lockstep.phase_key(phase_id, 0), lockstep.phase_key(phase_id, 1)), 'a session that has released them');
                RAISE EXCEPTION 'the locks of phase %, which is new, are held by %', phase_id, takers
                    USING ERRCODE = 'lock_not_available', HINT = pg_catalog.format('%sWhat keeps others from these locks: lockstep migrate roles --show-sql --advisory',
                        'End that session: SELECT pg_terminate_backend(' || "substring"(takers, 'pid (\d+)') || '). ');
            END IF;
        END IF;
    ELSE
        phase_id := r.last_phase_id;
        IF external OR conditional THEN -- all of it so far was cancelled: then it was done; nothing is claimed behind it yet
            UPDATE lockstep.phase p
            SET external = p.external OR own.external, conditional = p.conditional OR own.conditional,
                done_at = CASE WHEN NOT spared OR p.opened_at IS NOT NULL THEN p.done_at END
            WHERE p.phase_id = claim.phase_id
              AND (p.external <> (p.external OR own.external) OR p.conditional <> (p.conditional OR own.conditional)
                   OR (spared AND p.done_at IS NOT NULL));
        END IF;
    END IF;
    IF conditional AND is_open THEN -- else it is decided when the phase opens
        in_vain := NOT lockstep.run_failed_before(run_no, p_order);
    END IF;

    WITH made AS (
        INSERT INTO lockstep.task (phase_id, run_no, queue_id, status, type, "order", seq, kafka_offset, name, payload, traceparent,
                                   executor_no, token, attempt_num, max_attempts, condition, key, scheduled_for, skipped, error)
        SELECT claim.phase_id, claim.run_no, p_queue_id, w.status,
               task_type, p_order, m.s, m.o, m.n, m.p, m.t,
               CASE WHEN w.ours THEN p_executor_no END, CASE WHEN w.ours THEN pg_catalog.gen_random_uuid() END,
               CASE w.status WHEN 'Pending' THEN 1 ELSE 0 END, COALESCE(m.a, q.max_attempts), m.c, m.k, m.d,
               CASE WHEN w.vain THEN 'condition' END, CASE WHEN w.vain THEN 'not needed: nothing before it failed' END
        FROM ROWS FROM (pg_catalog.unnest(p_offsets[head:last]), pg_catalog.unnest(p_seqs[head:last]),
                        pg_catalog.unnest(p_payloads[head:last]), pg_catalog.unnest(p_names[head:last]),
                        pg_catalog.unnest(p_max_attempts[head:last]), pg_catalog.unnest(p_traceparents[head:last]),
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
        PERFORM lockstep.key_skip(p_queue_id, r.run_id, task_ids);
        SELECT pg_catalog.array_agg(t.token ORDER BY t.kafka_offset) INTO tokens FROM lockstep.task t WHERE t.task_id = ANY (task_ids);
    END IF;

    UPDATE lockstep.run SET next_seq = CASE WHEN p_run IS NULL THEN next_seq ELSE p_seqs[last] + 1 END, tasks = tasks + (last - head + 1),
        phases = phases + CASE WHEN fresh THEN 1 ELSE 0 END, last_phase_id = claim.phase_id, last_order = p_order,
        last_previous_order = p_previous, parked_order = CASE WHEN parked THEN p_order ELSE parked_order END
    WHERE run.run_no = claim.run_no;
    next_offset := lockstep.cursor_advance(p_queue_id, p_offsets[last], p_timestamp, p_digest);
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
