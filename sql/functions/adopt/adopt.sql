-- Adopt: an executor takes work that no executor owns and that is due: tasks that were returned, that wait for their
-- next attempt, or that a dead executor owned. A call takes tasks of one phase, the oldest first. Where runs are
-- concurrent the phases of runs of which the caller has none (p_held) come before the others. S(phase) is only tried,
-- and a phase row that is locked is skipped.
--
-- p_enough: phases of which the caller has unstarted tasks and which it has not seen open. It takes no more tasks of
-- them while they are closed: a few are enough to make its gate open the phase, the rest comes then.
--
-- Only adoptable tasks are taken. External tasks are not; only the end of their leases is watched. Tasks that may run
-- only after a failure are not, while their phase is closed. A closed phase of such tasks may have no owner that would
-- gate for it, because the executor that claimed it may be dead. The same is true of a phase without unfinished tasks:
-- duplicates of a key, or tasks that an operator has ended. Without help, as many such phases as the lookahead allows
-- would wait without end.
--
-- p_limit 0: no task is adopted; the caller has no free reader and asks for work that needs none.
--
-- An attempt of a dead owner counts as lost only if its row shows that it had begun (Processing). Otherwise the attempt
-- keeps its number. If the phase is open, the attempt may have begun nevertheless: the task is doubted, so its next
-- attempt is shown before it runs.
--
-- The answer is one row for each task, or one row without a task. Its verdict is 'none' or 'busy'. With 'none', wait_ms
-- is the time until a task is due (NULL: no task will be), and phase_id, run_no and order are such a closed phase, the
-- first of its run and not in p_enough, which the caller is to open. A task that is due already and whose row another
-- session holds is a reason to ask again soon: no notification says when that session ends.
--
-- The plans of this function are made once: to make them for each call, with adoptable in them, takes longer than the
-- rest of the call.
CREATE OR REPLACE FUNCTION lockstep.adopt(
    p_queue_id int, p_executor_no int, p_limit int, p_held bigint[], p_enough bigint[] DEFAULT '{}')
RETURNS TABLE (verdict text, wait_ms int, phase_id bigint, run_no bigint, "order" bigint, is_open boolean,
               took_shared boolean, task_id bigint, token uuid, attempt_num int, seq bigint, kafka_offset bigint,
               payload text, doubted boolean)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    living int[] := lockstep.executors_living();
    -- see action_leave
    lacks text[] := COALESCE((SELECT e.unable FROM lockstep.executor e WHERE e.executor_no = p_executor_no), '{}');
    max_lost int;
    run_row record;
    phase_row record;
    runs_held bigint[];       -- where runs are concurrent: those of which the caller has S of a phase
    seen_closed boolean;      -- a closed phase of the run was seen
    unowned boolean;          -- a task of the phase without an owner is adoptable
    due timestamptz;          -- the first task of a phase that is runnable later
    first_due timestamptz;    -- of all phases
    offer bigint[];           -- a closed phase with nothing left to do, its run and order
BEGIN
    took_shared := false;
    SELECT CASE WHEN NOT q.paused THEN q.max_lost END,
           ARRAY(SELECT h.run_no FROM lockstep.phase h WHERE h.phase_id = ANY (p_held) AND q.runs = 'concurrent')
    INTO STRICT max_lost, runs_held FROM lockstep.queue q WHERE q.queue_id = p_queue_id;
    IF max_lost IS NULL THEN -- paused: the executors are notified when it continues
        verdict := 'none';
        RETURN NEXT;
        RETURN;
    END IF;
    FOR run_row IN SELECT b.run_no, b.first_offset, b.after_run_no, b.status = 'Paused' AS paused FROM lockstep.run b
                   -- so not by run_log, which has those that have ended, too
                   WHERE b.queue_id = p_queue_id AND b.ended_at IS NULL AND COALESCE(b.first_offset, -1) >= 0
                     AND b.paused_by IS NULL AND b.cancelled_at IS NULL -- held, or left to give_up
                   ORDER BY b.run_no = ANY (runs_held), b.run_no LOOP -- else a large one would hold the others up
        seen_closed := false;
        FOR phase_row IN
            SELECT p.phase_id, p."order", p.previous_phase_id, p.after_runs, p.opened_at IS NOT NULL AS is_open
            FROM lockstep.phase p
            WHERE p.queue_id = p_queue_id AND p.run_no = run_row.run_no AND p.done_at IS NULL ORDER BY p."order"
        LOOP
            -- Of its closed phases one is enough, however many there are: it is opened first.
            EXIT WHEN NOT phase_row.is_open AND (run_row.paused OR phase_row.phase_id = ANY (p_enough));
            phase_id := phase_row.phase_id;
            IF NOT phase_row.is_open AND NOT seen_closed THEN
                seen_closed := true;
                IF offer IS NULL
                   AND (
                       -- not EXISTS, which may read the whole table
                       SELECT t.task_id
                       FROM lockstep.task t
                       WHERE t.phase_id = phase_row.phase_id AND NOT lockstep.is_finished(t.status) LIMIT 1) IS NULL
                   -- it may wait for runs
                   AND (((phase_row.previous_phase_id IS NOT NULL OR run_row.after_run_no IS NULL)
                         AND NOT phase_row.after_runs)
                        OR NOT EXISTS (SELECT FROM lockstep.run b
                                       WHERE b.queue_id = p_queue_id AND b.ended_at IS NULL
                                         AND b.first_offset < run_row.first_offset)) THEN
                    offer := ARRAY[phase_row.phase_id, run_row.run_no, phase_row."order"];
                END IF;
            END IF;
            EXIT WHEN p_limit <= 0 AND seen_closed;
            CONTINUE WHEN p_limit <= 0; -- on to the first closed one
            -- Two questions, because each has an index: + 0 is that of task_unowned.
            unowned := EXISTS (
                SELECT FROM lockstep.task t WHERE t.phase_id + 0 = phase_row.phase_id AND t.executor_no IS NULL
                AND lockstep.adoptable(t, phase_row.is_open, lacks, max_lost));
            IF NOT unowned AND NOT EXISTS (
                SELECT FROM lockstep.task t WHERE t.phase_id = phase_row.phase_id AND t.executor_no <> ALL (living)
                AND lockstep.adoptable(t, phase_row.is_open, lacks, max_lost)) THEN
                -- Some may be due: give_up ends them, but another session held their rows.
                SELECT pg_catalog.min(COALESCE(t.scheduled_for, pg_catalog.statement_timestamp())) INTO due
                FROM lockstep.task t
                WHERE t.phase_id + 0 = phase_row.phase_id AND t.executor_no IS NULL
                  AND lockstep.runnable(t, phase_row.is_open, lacks);
                first_due := LEAST(first_due, due); -- passes NULL over
                -- then it is opened, and the later phases have time until then
                EXIT WHEN NOT phase_row.is_open AND due IS NOT NULL;
                CONTINUE;
            END IF;
            IF NOT phase_row.phase_id = ANY (p_held) THEN
                took_shared := lockstep.lock_shared_xact(phase_row.phase_id);
            END IF;
            -- Under FOR SHARE, as in a claim: a retry that closes the phase is wholly before or wholly after this look.
            SELECT p.opened_at IS NOT NULL INTO is_open
            FROM lockstep.phase p
            WHERE p.phase_id = phase_row.phase_id AND p.done_at IS NULL AND (took_shared OR p.phase_id = ANY (p_held))
              AND NOT EXISTS (SELECT FROM lockstep.run b
                              WHERE b.run_no = run_row.run_no
                                AND (b.paused_by IS NOT NULL OR b.cancelled_at IS NOT NULL))
            FOR SHARE OF p SKIP LOCKED;
            IF NOT FOUND THEN
                took_shared := false;
                verdict := 'busy';
                RETURN NEXT;
                RETURN;
            END IF;
            verdict := 'adopted';
            RETURN QUERY
            SELECT 'adopted', 0, k.phase_id, k.run_no, k."order", is_open, took_shared, k.task_id, k.token,
                   k.attempt_num, k.seq, k.kafka_offset, k.payload, COALESCE(k.doubted, false)
            FROM lockstep.adopt_take(phase_row.phase_id, p_executor_no, p_limit, unowned, is_open, living, lacks,
                                     max_lost) AS k;
            IF FOUND THEN
                IF took_shared THEN -- last, because it is not undone when a statement of this transaction fails
                    PERFORM lockstep.keep_shared(phase_row.phase_id);
                END IF;
                RETURN;
            END IF;
            took_shared := false; -- it goes with the transaction
            first_due := LEAST(first_due, pg_catalog.statement_timestamp()); -- other sessions hold the rows: ask again
        END LOOP;
    END LOOP;
    is_open := NULL;
    verdict := 'none';
    SELECT n.wait_ms, n.phase_id, n.run_no, n."order" INTO wait_ms, phase_id, run_no, "order"
    FROM lockstep.adopt_none(p_queue_id, p_enough, living, first_due, offer) AS n;
    RETURN NEXT;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.adopt TO lockstep_executor;
