-- Adopt: takes work that nobody owns and that is due: given back, waiting for its next attempt, or of an executor that is
-- dead. One phase a call, the oldest first, but where runs are concurrent those of runs of which the caller has none (p_held) before the
-- others; S(phase) is tried, the phase row is skipped when it is locked.
--
-- p_enough: phases of which the caller has unstarted tasks and which it has not seen open. It takes no more of them while they
-- are closed: a few make its gate open the phase, the rest comes then.
--
-- External tasks are passed over; their leases are looked after. So are tasks that may run only after a failure, as long as their phase
-- is closed. A closed phase of such tasks may have no owner that would gate for it: who claimed it may be dead. Nor has a phase with
-- nothing left to do: duplicates of a key, or tasks that an operator has ended. As many of them as the lookahead allows would wait for ever.
--
-- p_limit 0: nothing is adopted; the caller has no reader free, and looks for what needs none.
--
-- A dead owner's attempt counts as lost only if its row shows that it had begun (Processing). Otherwise the attempt keeps its number. If
-- the phase is open, the attempt may have begun all the same: the task is doubted, so its next attempt is shown before it runs.
--
-- One row a task; or one row without a task: verdict 'none' (wait_ms: until something is due, NULL if nothing is; phase_id,
-- run_no, order: such a closed phase, the first of its run and not in p_enough, the caller is to open it), 'busy'.
CREATE OR REPLACE FUNCTION lockstep.adopt(p_queue_id int, p_executor_no int, p_limit int, p_held bigint[],
    p_enough bigint[] DEFAULT '{}')
RETURNS TABLE (verdict text, wait_ms int, phase_id bigint, run_no bigint, "order" bigint, is_open boolean, took_shared boolean,
               task_id bigint, token uuid, attempt_num int, seq bigint, kafka_offset bigint, payload text, doubted boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    living int[] := lockstep.executors_living();
    lacks text[] := COALESCE((SELECT e.unable FROM lockstep.executor e WHERE e.executor_no = p_executor_no), '{}'); -- see action_leave
    r record;
    p record;
    unowned boolean;
    due timestamptz;
    later timestamptz;
    most int;
    closed boolean; -- one of the run was seen
    in_hand bigint[]; -- where runs are concurrent: those of which the caller has S of a phase
    offer bigint[]; -- a closed phase with nothing left to do, its run and order
BEGIN
    took_shared := false;
    SELECT CASE WHEN NOT q.paused THEN q.max_lost END,
           ARRAY(SELECT h.run_no FROM lockstep.phase h WHERE h.phase_id = ANY (p_held) AND q.runs = 'concurrent')
    INTO STRICT most, in_hand FROM lockstep.queue q WHERE q.queue_id = p_queue_id;
    IF most IS NULL THEN -- paused: told when it goes on
        verdict := 'none';
        RETURN NEXT;
        RETURN;
    END IF;
    FOR r IN SELECT b.run_no, b.first_offset, b.after_run_no, b.status = 'Paused' AS paused FROM lockstep.run b
             WHERE b.queue_id = p_queue_id AND b.ended_at IS NULL AND COALESCE(b.first_offset, -1) >= 0 -- so not by run_log, which has those that have ended, too
               AND b.paused_by IS NULL AND b.cancelled_at IS NULL -- held, or left to give_up
             ORDER BY b.run_no = ANY (in_hand), b.run_no LOOP -- else a large one would hold the others up
        closed := false;
        FOR p IN SELECT ph.phase_id, ph."order", ph.previous_phase_id, ph.after_runs, ph.opened_at FROM lockstep.phase ph
                 WHERE ph.queue_id = p_queue_id AND ph.run_no = r.run_no AND ph.done_at IS NULL ORDER BY ph."order" LOOP
            -- Of its closed phases one is enough, however many there are: it is opened first.
            EXIT WHEN p.opened_at IS NULL AND (r.paused OR p.phase_id = ANY (p_enough));
            phase_id := p.phase_id;
            IF p.opened_at IS NULL AND NOT closed THEN
                closed := true;
                IF offer IS NULL AND (
                    SELECT t.task_id FROM lockstep.task t WHERE t.phase_id = p.phase_id -- not EXISTS, which may read the whole table
                    AND NOT lockstep.is_finished(t.status) LIMIT 1) IS NULL
                   AND (((p.previous_phase_id IS NOT NULL OR r.after_run_no IS NULL) AND NOT p.after_runs) OR NOT EXISTS ( -- it may wait for runs
                       SELECT FROM lockstep.run b WHERE b.queue_id = p_queue_id AND b.ended_at IS NULL AND b.first_offset < r.first_offset)) THEN
                    offer := ARRAY[p.phase_id, r.run_no, p."order"];
                END IF;
            END IF;
            EXIT WHEN p_limit <= 0 AND closed;
            CONTINUE WHEN p_limit <= 0; -- on to the first closed one
            -- Two questions, because each has an index: + 0 is that of task_unowned.
            unowned := EXISTS (
                SELECT FROM lockstep.task t WHERE t.phase_id + 0 = p.phase_id AND t.executor_no IS NULL AND t.status IN ('Pending', 'Error', 'Processing')
                AND t.type <> 'external' AND (t.needs IS NULL OR NOT t.needs && lacks)
                AND (p.opened_at IS NOT NULL OR t.condition IS DISTINCT FROM 'failure')
                AND t.lost_num < most AND t.cancelled_by IS NULL -- the others are ended, by give_up()
                AND (t.scheduled_for IS NULL OR t.scheduled_for <= pg_catalog.clock_timestamp()));
            IF NOT unowned AND NOT EXISTS (
                SELECT FROM lockstep.task t WHERE t.phase_id = p.phase_id AND t.executor_no <> ALL (living) AND t.status IN ('Pending', 'Error', 'Processing')
                AND t.type <> 'external' AND (t.needs IS NULL OR NOT t.needs && lacks)
                AND (p.opened_at IS NOT NULL OR t.condition IS DISTINCT FROM 'failure')
                AND t.lost_num < most AND t.cancelled_by IS NULL
                AND (t.scheduled_for IS NULL OR t.scheduled_for <= pg_catalog.clock_timestamp())) THEN
                SELECT pg_catalog.min(t.scheduled_for) INTO later FROM lockstep.task t
                WHERE t.phase_id + 0 = p.phase_id AND t.executor_no IS NULL AND t.status IN ('Pending', 'Error') AND t.type <> 'external'
                  AND (t.needs IS NULL OR NOT t.needs && lacks) AND (p.opened_at IS NOT NULL OR t.condition IS DISTINCT FROM 'failure');
                due := LEAST(due, later); -- passes NULL over
                EXIT WHEN p.opened_at IS NULL AND later IS NOT NULL; -- then it is opened, and what comes after it has time until then
                CONTINUE;
            END IF;
            IF NOT p.phase_id = ANY (p_held) THEN
                took_shared := lockstep.lock_shared_xact(p.phase_id);
            END IF;
            -- Under FOR SHARE, as in a claim: a retry that closes the phase is wholly before or wholly after this look.
            SELECT ph.opened_at IS NOT NULL INTO is_open FROM lockstep.phase ph
            WHERE ph.phase_id = p.phase_id AND ph.done_at IS NULL AND (took_shared OR p.phase_id = ANY (p_held))
              AND NOT EXISTS (SELECT FROM lockstep.run b WHERE b.run_no = r.run_no AND (b.paused_by IS NOT NULL OR b.cancelled_at IS NOT NULL))
            FOR SHARE OF ph SKIP LOCKED;
            IF NOT FOUND THEN
                took_shared := false;
                verdict := 'busy';
                RETURN NEXT;
                RETURN;
            END IF;
            verdict := 'adopted';
            RETURN QUERY
            WITH nobodys AS (
                -- Locked and looked at again: whoever else adopts at this moment takes other rows.
                SELECT t.task_id, t.executor_no AS old_owner, t.status AS old_status, t.attempt_num AS old_attempt, t.started_at
                FROM lockstep.task t
                WHERE unowned AND t.phase_id + 0 = p.phase_id AND t.executor_no IS NULL AND t.status IN ('Pending', 'Error', 'Processing')
                  AND t.type <> 'external' AND (t.needs IS NULL OR NOT t.needs && lacks)
                  AND t.lost_num < most AND t.cancelled_by IS NULL AND (is_open OR t.condition IS DISTINCT FROM 'failure')
                  AND (t.scheduled_for IS NULL OR t.scheduled_for <= pg_catalog.clock_timestamp())
                ORDER BY t.kafka_offset LIMIT p_limit FOR UPDATE SKIP LOCKED),
            orphans AS (
                SELECT t.task_id, t.executor_no AS old_owner, t.status AS old_status, t.attempt_num AS old_attempt, t.started_at
                FROM lockstep.task t
                WHERE NOT unowned AND t.phase_id = p.phase_id AND t.executor_no <> ALL (living) AND t.status IN ('Pending', 'Error', 'Processing')
                  AND t.type <> 'external' AND (t.needs IS NULL OR NOT t.needs && lacks)
                  AND t.lost_num < most AND t.cancelled_by IS NULL AND (is_open OR t.condition IS DISTINCT FROM 'failure')
                  AND (t.scheduled_for IS NULL OR t.scheduled_for <= pg_catalog.clock_timestamp())
                ORDER BY t.kafka_offset LIMIT p_limit FOR UPDATE SKIP LOCKED),
            found AS (
                SELECT n.task_id, n.old_owner, n.old_status, n.old_attempt, n.started_at FROM nobodys n
                UNION ALL
                SELECT o.task_id, o.old_owner, o.old_status, o.old_attempt, o.started_at FROM orphans o),
            lost AS (
                INSERT INTO lockstep.task_attempt (task_id, attempt, status, executor_no, started_at, ended_at, error)
                SELECT f.task_id, f.old_attempt, 'Pending', f.old_owner, f.started_at, pg_catalog.clock_timestamp(), 'lost: its executor died'
                FROM found f WHERE f.old_owner IS NOT NULL AND f.old_status = 'Processing'
                ON CONFLICT DO NOTHING),
            taken AS (
                UPDATE lockstep.task t
                SET executor_no = p_executor_no, token = pg_catalog.gen_random_uuid(), status = 'Pending',
                    attempt_num = f.old_attempt + CASE WHEN l.lost OR f.old_status = 'Error' THEN 1 ELSE 0 END,
                    lost_num = t.lost_num + CASE WHEN l.lost THEN 1 ELSE 0 END,
                    max_attempts = t.max_attempts + CASE WHEN l.lost THEN 1 ELSE 0 END, -- it counts failed ones only
                    doubted = CASE WHEN is_open AND f.old_owner IS NOT NULL THEN true ELSE t.doubted END,
                    updated_at = pg_catalog.clock_timestamp()
                FROM found f CROSS JOIN LATERAL (SELECT f.old_owner IS NOT NULL AND f.old_status = 'Processing' AS lost) AS l
                WHERE t.task_id = f.task_id
                RETURNING t.run_no, t."order", t.task_id, t.token, t.attempt_num, t.seq, t.kafka_offset, t.payload,
                          COALESCE(t.doubted, false) AS doubted)
            SELECT 'adopted', 0, p.phase_id, k.run_no, k."order", is_open, took_shared, k.task_id, k.token, k.attempt_num, k.seq,
                   k.kafka_offset, k.payload, k.doubted
            FROM taken k ORDER BY k.kafka_offset;
            IF FOUND THEN
                IF took_shared THEN -- last, because it is not undone when a statement of this transaction fails
                    PERFORM lockstep.keep_shared(p.phase_id);
                END IF;
                RETURN;
            END IF;
            took_shared := false; -- it goes with the transaction
        END LOOP;
    END LOOP;
    phase_id := NULL;
    is_open := NULL;
    verdict := 'none';
    IF EXISTS (SELECT FROM lockstep.phase ph WHERE ph.queue_id = p_queue_id AND ph.done_at IS NULL AND (ph.external OR ph.conditional)) THEN
        -- The next look at the leases: none runs out before that, also if it is given out in this moment.
        SELECT LEAST(due, pg_catalog.min(GREATEST(t.lease_until, pg_catalog.clock_timestamp() + interval '200 ms')) FILTER (WHERE t.lease_until IS NOT NULL),
                     CASE WHEN pg_catalog.count(ph.phase_id) > 0 THEN pg_catalog.clock_timestamp() + q.external_lease END) INTO due
        FROM lockstep.queue q
        LEFT JOIN lockstep.phase ph ON ph.queue_id = q.queue_id AND ph.done_at IS NULL AND ph.external AND ph.opened_at IS NOT NULL
        LEFT JOIN lockstep.task t ON t.phase_id + 0 = ph.phase_id AND t.lease_until IS NOT NULL AND t.type = 'external' AND t.status = 'Processing' -- by task_leased
        WHERE q.queue_id = p_queue_id GROUP BY q.external_lease;
        SELECT ph.phase_id, ph.run_no, ph."order" INTO phase_id, run_no, "order"
        FROM lockstep.phase ph JOIN lockstep.run r USING (run_no)
        WHERE ph.queue_id = p_queue_id AND ph.done_at IS NULL AND (ph.external OR ph.conditional) AND ph.opened_at IS NULL
          AND r.paused_by IS NULL AND r.status <> 'Paused' AND r.cancelled_at IS NULL
          AND ph.phase_id = (SELECT f.phase_id FROM lockstep.phase f WHERE f.queue_id = p_queue_id AND f.run_no = r.run_no AND f.done_at IS NULL
                                 AND f.opened_at IS NULL AND (f.external OR f.conditional) ORDER BY f."order" LIMIT 1)
          AND NOT ph.phase_id = ANY (p_enough)
        ORDER BY ph.run_no, ph."order" LIMIT 1;
    END IF;
    IF phase_id IS NULL AND offer IS NOT NULL THEN
        phase_id := offer[1];
        run_no := offer[2];
        "order" := offer[3];
    END IF;
    wait_ms := CASE WHEN due IS NOT NULL -- LEAST and GREATEST pass NULL over
                    THEN LEAST(GREATEST(EXTRACT(epoch FROM due - pg_catalog.clock_timestamp()) * 1000 + 1, 1), 3600000) END;
    -- A worker was taking a task of a run in the moment in which that was cancelled: nobody says when it has committed.
    IF EXISTS (SELECT FROM lockstep.phase ph JOIN lockstep.run r USING (run_no)
               WHERE ph.queue_id = p_queue_id AND ph.done_at IS NULL AND ph.external AND r.cancelled_at IS NOT NULL) THEN
        wait_ms := LEAST(wait_ms, 500);
    END IF;
    -- A dead executor's sessions, told to end, are still there: nobody says when they are gone, so who looked comes again.
    IF EXISTS (SELECT FROM lockstep.executor e WHERE e.executor_no = ANY (living) AND e.ended_at IS NOT NULL) AND EXISTS (
        SELECT FROM lockstep.executor e
        JOIN lockstep.task t ON t.executor_no = e.executor_no AND t.status IN ('Pending', 'Processing', 'Error')
        JOIN lockstep.phase ph ON ph.phase_id = t.phase_id AND ph.done_at IS NULL
        WHERE ph.queue_id = p_queue_id AND e.executor_no = ANY (living) AND e.ended_at IS NOT NULL) THEN
        wait_ms := LEAST(wait_ms, 20);
    END IF;
    RETURN NEXT;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.adopt TO lockstep_executor;
