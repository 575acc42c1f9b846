-- Gate: one slice of the wait between claim and start. Waits for IX of the phase before, then opens, in one transaction:
-- lock the rows of the phase before and of ours; then, in a statement of its own, check; then open. Each statement of this function takes
-- its own snapshot (READ COMMITTED, VOLATILE), so the check sees what was committed while the lock was waited for. Every statement
-- behind the lock is a part of the barrier: what nobody's start waits for is in lockstep.opened, which the caller calls next.
--
-- Only the oldest phase of the run that is not open gates, whoever owns its tasks; p_phase_id is the oldest phase of which
-- the caller owns tasks and which it has not seen open: if another has opened it, only its IX is to be taken. While somebody has S of the
-- phase right before that one, the caller waits for him.
--
-- verdict   opened, open   the phase is open; the caller holds IX(previous_phase_id) (none if it is NULL). tells: events wait for a relay
--           wait           IX was not granted within the slice: come again at once, that wait is the wake-up
--           orphans        the phase before has work without a living owner: adopt it, then come again
--           due            what is left of the phase before is due in wait_ms
--           external       it is left to external workers: sleep until one notifies
--           run            a run before it has not ended: sleep until it is notified
--           paused         sleep until it is notified
--           gone           the caller's phase is done or cancelled: forget its tasks
--           nothing        nothing to open
-- p_wait_ms: 0 tries only; the verdict is wait then, too.
-- conditional: some tasks of a phase that was opened may have been cancelled while others were not: the caller asks which of its own.
-- definitions: how often tasks have changed what the database defines, as of when everything before was finished.
CREATE OR REPLACE FUNCTION lockstep.gate(p_phase_id bigint, p_wait_ms int,
    OUT verdict text, OUT phase_id bigint, OUT previous_phase_id bigint, OUT wait_ms int, OUT conditional boolean, OUT tells boolean, OUT definitions bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    target record;
    own record;
    before_run bigint;
    free boolean;
    held boolean;
    cancelled boolean;
    living int[];
    due timestamptz;
    external boolean;
    waited bigint; -- the phase before, if its IX was waited for until it was the open one
BEGIN
    conditional := false;
    LOOP
        SELECT p.phase_id, p."order", p.previous_phase_id, p.opened_at, p.done_at, p.queue_id, p.run_no, p.after_runs, p.conditional,
               b.opened_at IS NOT NULL AND b.done_at IS NULL AND (
                   SELECT u.phase_id FROM lockstep.phase u
                   WHERE u.run_no + 0 = p.run_no AND u."order" + 0 < b."order" AND u.opened_at IS NULL AND u.done_at IS NULL -- by phase_left
                   ORDER BY u."order" + 0 LIMIT 1) IS NULL AS next
        INTO target
        FROM lockstep.phase p LEFT JOIN lockstep.phase b ON b.phase_id = p.previous_phase_id WHERE p.phase_id = p_phase_id;
        IF NOT FOUND THEN
            verdict := 'nothing';
            RETURN;
        END IF;
        phase_id := p_phase_id;
        EXIT WHEN waited IS NOT NULL OR target.next OR target.opened_at IS NOT NULL OR target.done_at IS NOT NULL OR target.previous_phase_id IS NULL
            OR p_wait_ms = 0;
        -- If somebody has S of the phase before, he has its tasks, and his gate opens it. What comes before that is not ours to wait for: we
        -- would be in the way of those who give it back (lockstep.lock_intent_xact). Else it is, or nobody opens it.
        IF pg_catalog.pg_try_advisory_lock(lockstep.lock_class('phase'), lockstep.phase_key(target.previous_phase_id, 0)) THEN
            PERFORM pg_catalog.pg_advisory_unlock(lockstep.lock_class('phase'), lockstep.phase_key(target.previous_phase_id, 0));
            EXIT;
        END IF;
        IF NOT lockstep.lock_intent_xact(target.previous_phase_id, p_wait_ms) THEN
            verdict := 'wait';
            RETURN;
        END IF;
        waited := target.previous_phase_id;
    END LOOP;
    IF waited IS NOT NULL AND target.next IS NOT TRUE AND (target.opened_at IS NULL OR target.done_at IS NOT NULL) THEN
        verdict := 'wait'; -- it was given back undone: look again, without the locks of this transaction
        RETURN;
    END IF;
    previous_phase_id := target.previous_phase_id;
    -- It is the next one, as it is most times. Else not beyond the caller's: if that is opened at this moment, it would wait for tasks
    -- that it may start itself. By phase_left, the index of what is not done: a run may have done thousands of phases.
    IF target.opened_at IS NULL AND target.done_at IS NULL AND target.next IS NOT TRUE THEN
        SELECT p.phase_id, p."order", p.previous_phase_id, p.opened_at, p.done_at, p.queue_id, p.run_no, p.after_runs, p.conditional INTO own
        FROM lockstep.phase p
        WHERE p.run_no + 0 = target.run_no AND p."order" + 0 <= target."order" AND p.opened_at IS NULL AND p.done_at IS NULL
        ORDER BY p."order" + 0 LIMIT 1;
        IF FOUND THEN
            target := own;
        END IF;
        -- The last one before it that is not done: a reopened phase may lie behind others that stay done.
        previous_phase_id := COALESCE((
            SELECT p.phase_id FROM lockstep.phase p
            WHERE p.run_no + 0 = target.run_no AND p."order" + 0 < target."order" AND p.done_at IS NULL
            ORDER BY p."order" + 0 DESC LIMIT 1), target.previous_phase_id);
    END IF;
    IF target.done_at IS NOT NULL THEN
        verdict := 'gone';
        RETURN;
    END IF;
    phase_id := target.phase_id;
    IF target.previous_phase_id IS NULL THEN
        SELECT b.run_no, b.last_phase_id INTO before_run, previous_phase_id
        FROM lockstep.run r JOIN lockstep.run b ON b.run_no = r.after_run_no WHERE r.run_no = target.run_no;
    END IF;

    IF waited IS NULL AND previous_phase_id IS NOT NULL AND NOT lockstep.lock_intent_xact(previous_phase_id, p_wait_ms) THEN
        verdict := 'wait';
        RETURN;
    END IF;
    IF target.opened_at IS NOT NULL THEN
        conditional := target.conditional;
        definitions := lockstep.definitions_changes();
        verdict := 'open';
        IF previous_phase_id IS NOT NULL THEN
            PERFORM lockstep.keep_intent(previous_phase_id);
        END IF;
        RETURN;
    END IF;

    -- The run before its phases, as everybody who changes a run: started_at is written below.
    IF target.previous_phase_id IS NULL THEN
        PERFORM FROM lockstep.run r WHERE r.run_no = target.run_no FOR NO KEY UPDATE;
    END IF;
    -- A reopening of any phase before ours locks ours, too, FOR UPDATE, before it makes a finished task unfinished again.
    PERFORM FROM lockstep.phase p WHERE p.phase_id = gate.previous_phase_id FOR NO KEY UPDATE;
    SELECT p.opened_at, p.done_at, p.conditional, p.external, p.events INTO own FROM lockstep.phase p WHERE p.phase_id = gate.phase_id FOR NO KEY UPDATE;
    cancelled := NOT FOUND OR own.done_at IS NOT NULL;
    SELECT q.paused OR r.status = 'Paused', before_run IS NOT NULL OR previous_phase_id IS NULL OR (
               SELECT b.phase_id FROM lockstep.phase b
               WHERE b.run_no + 0 = target.run_no AND b."order" + 0 < target."order" AND b.done_at IS NULL
                 AND (b.opened_at IS NULL OR (
                          SELECT t.task_id FROM lockstep.task t WHERE t.phase_id = b.phase_id
                          AND NOT lockstep.is_finished(t.status) LIMIT 1) IS NOT NULL)
               ORDER BY b."order" + 0 LIMIT 1) IS NULL, -- not EXISTS, which may be answered by reading the whole table into a hash
           (SELECT d.changes FROM lockstep.definitions d)
    INTO held, free, definitions FROM lockstep.run r JOIN lockstep.queue q USING (queue_id) WHERE r.run_no = target.run_no;
    IF free AND (before_run IS NOT NULL OR target.after_runs) THEN
        -- Not that one alone: cancelled, it may have ended before one that it waited for.
        SELECT NOT EXISTS (SELECT FROM lockstep.run b
                           WHERE b.queue_id = r.queue_id AND b.ended_at IS NULL AND b.first_offset < r.first_offset)
        INTO free FROM lockstep.run r WHERE r.run_no = target.run_no;
        verdict := CASE WHEN NOT free THEN 'run' END;
    END IF;
    IF free AND held THEN
        free := false;
        verdict := 'paused';
    END IF;
    IF free AND own.opened_at IS NULL AND NOT cancelled THEN
        -- The one before first, because both tell events.
        UPDATE lockstep.phase p SET done_at = pg_catalog.clock_timestamp() WHERE p.phase_id = gate.previous_phase_id AND p.done_at IS NULL;
        UPDATE lockstep.phase p SET opened_at = pg_catalog.clock_timestamp(), after_runs = false WHERE p.phase_id = gate.phase_id;
        IF target.previous_phase_id IS NULL THEN
            UPDATE lockstep.run r SET started_at = pg_catalog.clock_timestamp() WHERE r.run_no = target.run_no AND r.started_at IS NULL;
        END IF;
        conditional := own.conditional;
        IF conditional THEN
            PERFORM lockstep.phase_decide(phase_id);
        END IF;
        IF own.external THEN
            PERFORM pg_catalog.pg_notify('lockstep_external', (SELECT q.name FROM lockstep.queue q WHERE q.queue_id = target.queue_id));
        END IF;
        tells := own.events;
        verdict := 'opened';
        IF previous_phase_id IS NOT NULL THEN
            PERFORM lockstep.keep_intent(previous_phase_id);
        END IF;
        RETURN;
    ELSIF free AND NOT cancelled THEN -- another opened it while we waited for the rows
        conditional := own.conditional;
        verdict := 'open';
        IF previous_phase_id IS NOT NULL THEN
            PERFORM lockstep.keep_intent(previous_phase_id);
        END IF;
        RETURN;
    ELSIF free THEN
        verdict := 'gone';
    END IF;

    -- What is left of a run that is held is not adopted: nothing to look for until it is resumed.
    verdict := COALESCE(verdict, (SELECT 'paused' FROM lockstep.run r WHERE r.run_no = target.run_no AND r.paused_by IS NOT NULL));
    IF verdict IS NOT NULL THEN
        RETURN;
    END IF;
    -- Why is it unfinished?
    living := lockstep.executors_living();
    SELECT pg_catalog.min(COALESCE(t.scheduled_for, '-infinity')) INTO due
    FROM lockstep.task t
    WHERE t.phase_id = gate.previous_phase_id AND t.status IN ('Pending', 'Error', 'Processing') AND t.type <> 'external'
      AND (t.executor_no IS NULL OR t.executor_no <> ALL (living));
    wait_ms := CASE WHEN due > pg_catalog.clock_timestamp()
                    THEN LEAST(EXTRACT(epoch FROM due - pg_catalog.clock_timestamp()) * 1000 + 1, 3600000) ELSE 0 END;
    -- Nobody holds S for a worker, so IX was granted: waiting for it once more would not wait at all.
    external := due IS NULL AND (SELECT p.external FROM lockstep.phase p WHERE p.phase_id = gate.previous_phase_id) AND EXISTS (
        SELECT FROM lockstep.task t
        WHERE t.phase_id = gate.previous_phase_id AND t.type = 'external' AND NOT lockstep.is_finished(t.status));
    verdict := CASE WHEN external THEN 'external' WHEN due IS NULL THEN 'wait' WHEN wait_ms = 0 THEN 'orphans' ELSE 'due' END;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.gate TO lockstep_executor;
