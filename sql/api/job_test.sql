-- Decides each schedule of a job as the next cycle of the dispatcher does, with the reason, and changes nothing. now:
-- at that time instead. The decision is the dispatcher's own (lockstep.job_decide). tasks: the tasks that would be
-- published. The results of users' SQL are not known here: for a trigger the last look of the dispatcher counts, unless
-- look has another one, and the tasks of a query are those of rows. `lockstep job test` runs both, as the tasks' login.
CREATE OR REPLACE FUNCTION lockstep.job_test(
    job text, now timestamptz DEFAULT NULL, look lockstep.rows_look DEFAULT NULL, rows jsonb[] DEFAULT NULL)
RETURNS TABLE (schedule text, would_fire boolean, verdict text, reason text, scheduled_for timestamptz,
               next_scheduled_run timestamptz, tasks jsonb, pending_rows bigint, oldest_row_age interval, advice text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    own CONSTANT lockstep.job := lockstep.job_named(job_test.job);
    moment CONSTANT timestamptz := COALESCE(job_test.now, clock_timestamp());
    one lockstep.schedule;
    decided record;
    fault text;
    done lockstep.dispatched;
    before lockstep.dispatched[] := '{}';
    held CONSTANT text := (SELECT min(h.why) FROM lockstep.job_held(own.job_id) AS h WHERE job_test.now IS NULL);
    still CONSTANT text := (SELECT format('queue %s is %s: a run that fires waits in it', q.name,
                                          CASE WHEN q.paused THEN 'paused' ELSE 'halted' END)
                            FROM lockstep.queue q
                            WHERE q.queue_id = own.queue_id AND (q.paused OR q.halted_reason IS NOT NULL));
BEGIN
    -- as the dispatcher
    FOR one IN SELECT s.* FROM lockstep.schedule s WHERE s.job_id = own.job_id ORDER BY s.wake_at, s.schedule_id LOOP
        IF (one.rows_rule).relation IS NOT NULL AND (job_test.look).rows IS NOT NULL THEN
            one.look := ROW(moment, (job_test.look).rows, (job_test.look).oldest_at, (job_test.look).newest_at, 0,
                            NULL)::lockstep.rows_look;
            one.next_at := moment;
        END IF;
        fault := CASE WHEN one.is_active THEN lockstep.rule_fault(one.rule) END;
        IF fault IS NOT NULL THEN -- as the dispatcher: its time stays undecided, and the other schedules continue
            RETURN QUERY SELECT one.name, false, 'error', concat_ws('; ', fault, still), NULL::timestamptz,
                NULL::timestamptz, NULL::jsonb, NULL::bigint, NULL::interval,
                format('lockstep schedule set %s %s --zone ZONE', own.name, one.name);
            CONTINUE;
        END IF;
        decided := lockstep.job_decide(own, one, moment, before);
        done.schedule := one.name;
        done.verdict := decided.verdict;
        done.scheduled_for := decided.scheduled_for;
        before := before || done;
        schedule := one.name;
        verdict := decided.verdict;
        would_fire := decided.verdict = 'fire' AND held IS NULL;
        reason := concat_ws('; ', decided.reason, held, still);
        scheduled_for := decided.scheduled_for;
        next_scheduled_run := decided.next_at;
        tasks := to_jsonb(CASE WHEN own.spec ? 'query' THEN lockstep.job_rows(job_test.rows)
                               ELSE lockstep.job_tasks(
                                   own.spec,
                                   lockstep.job_words(
                                       own, one.name,
                                       CASE WHEN (one.rows_rule).relation IS NULL
                                                THEN lockstep.job_source(one, decided.missed_count)
                                            ELSE decided.reason END,
                                       NULL, COALESCE(decided.scheduled_for, decided.next_at), moment, NULL)
                                   || jsonb_build_object('rows', (one.look).rows)) END);
        pending_rows := (one.look).rows;
        oldest_row_age := moment - (one.look).oldest_at;
        advice := lockstep.job_advice(one.rows_rule);
        RETURN NEXT;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_test(text, timestamptz, lockstep.rows_look, jsonb[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_test(text, timestamptz, lockstep.rows_look, jsonb[])
    TO lockstep_operator, lockstep_producer, lockstep_monitor, lockstep_executor;
