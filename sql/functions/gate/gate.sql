-- Gate: one slice of the wait between claim and start. It waits for IX of the phase before, then opens the phase in one
-- transaction: it locks the rows of the phase before and of this phase; then, in a statement of its own, it checks;
-- then it opens. Each statement of this function, and of gate_ready, takes its own snapshot (READ COMMITTED, VOLATILE),
-- so the check sees the changes that were committed during the wait for the lock. Every statement behind the lock is a
-- part of the barrier. Work for which no start waits is in lockstep.opened, which the caller calls next.
--
-- Only the oldest phase of the run that is not open gates, whichever executor owns its tasks. p_phase_id is the oldest
-- phase of which the caller owns tasks and which it has not seen open: if another executor has opened it, only its IX
-- is to be acquired. While another executor has S of the phase right before that one, the caller waits for that
-- executor.
--
-- verdict   opened, open   the phase is open; the caller holds IX(previous_phase_id), none if that is NULL
--           wait           IX was not granted within the slice: call again at once, that wait is the wake-up. Or IX was
--                          granted at once, and an executor without S has work of the phase before and does not count
--                          as dead yet (executors_living): call again after a pause
--           orphans        the phase before has work without a living owner: adopt it, then call again
--           due            the rest of the phase before is due in wait_ms
--           external       external workers have the rest: sleep until one notifies
--           run            an earlier run has not ended: sleep until it is notified
--           paused         sleep until it is notified
--           gone           the caller's phase is done or cancelled: forget its tasks
--           nothing        no phase is to be opened
-- p_wait_ms: 0 only tries; the verdict is wait then, too.
-- conditional: some tasks of a phase that was opened may have been cancelled while others were not: the caller asks
-- which of its tasks were.
-- definitions: how often tasks have changed the definitions of the database, up to the end of all earlier tasks.
-- events_wait: events wait for a relay.
CREATE OR REPLACE FUNCTION lockstep.gate(
    p_phase_id bigint, p_wait_ms int,
    OUT verdict text, OUT phase_id bigint, OUT previous_phase_id bigint, OUT wait_ms int, OUT conditional boolean,
    OUT events_wait boolean, OUT definitions bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    target record;     -- the phase that is to be opened
    own record;
    waited bigint;     -- the phase before, if its IX was waited for until it was the open one
    before_run bigint; -- the run before, if the phase is the first of its run
    ready record;      -- see gate_ready
    cancelled boolean;
BEGIN
    conditional := false;
    LOOP
        SELECT p.phase_id, p."order", p.previous_phase_id, p.opened_at, p.done_at, p.queue_id, p.run_no, p.after_runs,
               p.conditional,
               b.opened_at IS NOT NULL AND b.done_at IS NULL
               AND (SELECT u.phase_id
                    FROM lockstep.phase u
                    -- by phase_left
                    WHERE u.run_no + 0 = p.run_no AND u."order" + 0 < b."order" AND u.opened_at IS NULL
                      AND u.done_at IS NULL
                    ORDER BY u."order" + 0 LIMIT 1) IS NULL AS next
        INTO target
        FROM lockstep.phase p LEFT JOIN lockstep.phase b ON b.phase_id = p.previous_phase_id
        WHERE p.phase_id = p_phase_id;
        IF NOT FOUND THEN
            verdict := 'nothing';
            RETURN;
        END IF;
        phase_id := p_phase_id;
        EXIT WHEN waited IS NOT NULL OR target.next OR target.opened_at IS NOT NULL OR target.done_at IS NOT NULL
                  OR target.previous_phase_id IS NULL OR p_wait_ms = 0;
        -- If an executor has S of the phase before, it has tasks of it, and its gate opens it. This gate must not wait
        -- for an earlier phase: it would delay the executors that release that one (lockstep.lock_intent_xact). If no
        -- executor has S, this gate opens it, or none does.
        EXIT WHEN lockstep.shared_free(target.previous_phase_id);
        IF NOT lockstep.lock_intent_xact(target.previous_phase_id, p_wait_ms) THEN
            verdict := 'wait';
            RETURN;
        END IF;
        waited := target.previous_phase_id;
    END LOOP;
    IF waited IS NOT NULL AND target.next IS NOT TRUE AND (target.opened_at IS NULL OR target.done_at IS NOT NULL) THEN
        verdict := 'wait'; -- S was released with tasks undone: ask again, without the locks of this transaction
        RETURN;
    END IF;
    previous_phase_id := target.previous_phase_id;
    -- Most times this phase is the next one. If it is not, the gate does not go beyond the phase of the caller: if that
    -- is opened at this moment, the gate would wait for tasks that the caller may start itself.
    IF target.opened_at IS NULL AND target.done_at IS NULL AND target.next IS NOT TRUE THEN
        SELECT o.phase_id, o."order", o.previous_phase_id, o.opened_at, o.done_at, o.queue_id, o.run_no, o.after_runs,
               o.conditional, o.waits_for
        INTO own FROM lockstep.gate_oldest(target.run_no, target."order") AS o;
        IF FOUND THEN
            target := own;
            previous_phase_id := own.waits_for;
        END IF;
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

    IF waited IS NULL AND previous_phase_id IS NOT NULL
       AND NOT lockstep.lock_intent_xact(previous_phase_id, p_wait_ms) THEN
        verdict := 'wait';
        RETURN;
    END IF;
    IF target.opened_at IS NOT NULL THEN
        conditional := target.conditional;
        definitions := lockstep.definitions_changes();
        verdict := 'open';
        PERFORM lockstep.keep_intent(previous_phase_id);
        RETURN;
    END IF;

    -- The run before its phases, as all functions that change a run lock them: started_at is written below.
    IF target.previous_phase_id IS NULL THEN
        PERFORM FROM lockstep.run r WHERE r.run_no = target.run_no FOR NO KEY UPDATE;
    END IF;
    -- A reopening of any phase before this one locks this one, too, FOR UPDATE, before it makes a finished task
    -- unfinished again.
    PERFORM FROM lockstep.phase p WHERE p.phase_id = gate.previous_phase_id FOR NO KEY UPDATE;
    SELECT p.opened_at, p.done_at, p.conditional, p.external, p.events INTO own
    FROM lockstep.phase p WHERE p.phase_id = gate.phase_id FOR NO KEY UPDATE;
    cancelled := NOT FOUND OR own.done_at IS NOT NULL;
    ready := lockstep.gate_ready(target.run_no, target."order", before_run IS NULL AND previous_phase_id IS NOT NULL,
                                 before_run IS NOT NULL OR target.after_runs);
    definitions := ready.definitions;
    IF ready.free AND NOT cancelled THEN
        conditional := own.conditional;
        verdict := 'open'; -- another executor opened it while this one waited for the rows
        IF own.opened_at IS NULL THEN
            PERFORM lockstep.gate_open(phase_id, previous_phase_id,
                                       CASE WHEN target.previous_phase_id IS NULL THEN target.run_no END, conditional,
                                       own.external);
            events_wait := own.events;
            verdict := 'opened';
        END IF;
        -- last, because it is not undone when a statement of this transaction fails
        PERFORM lockstep.keep_intent(previous_phase_id);
        RETURN;
    END IF;
    -- The rest of a run that is held, or whose queue is paused, is not adopted: there is no work until it is resumed.
    verdict := COALESCE(ready.verdict, CASE WHEN ready.free THEN 'gone' END,
                        (SELECT 'paused'
                         FROM lockstep.run r JOIN lockstep.queue q USING (queue_id)
                         WHERE r.run_no = target.run_no AND (q.paused OR r.paused_by IS NOT NULL)));
    IF verdict IS NULL THEN
        SELECT w.verdict, w.wait_ms INTO verdict, wait_ms FROM lockstep.gate_waits(previous_phase_id) AS w;
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.gate TO lockstep_executor;
