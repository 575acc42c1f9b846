-- A schedule whose job the caller has locked has its turn: it is decided, and the decision is carried out. The
-- caller has locked the schedule's row, too, unless the overlap is cancel: then job_act locks it. An error is recorded,
-- and the schedule continues with its next time.
--   verdict   fire, skip, miss, queue, cancel, wait: as job_decide; error: with the reason
--             look: the caller runs the look as the tasks' login, and reports with dispatch_looked(token, ...)
--             ask: the caller runs mark and query as the tasks' login, in the transaction of lockstep.fire(token, ...)
CREATE OR REPLACE FUNCTION lockstep.job_turn(
    p_job lockstep.job, p_schedule lockstep.schedule, p_now timestamptz, p_by text)
RETURNS lockstep.dispatched LANGUAGE plpgsql AS $$
DECLARE
    AGAIN CONSTANT interval := interval '2 seconds';
    decided record;
    done lockstep.dispatched;
    taken text;
    pause interval;
BEGIN
    done.job := p_job.name;
    done.schedule := p_schedule.name;
    BEGIN
        decided := lockstep.job_decide(p_job, p_schedule, p_now);
        -- never at once: the caller continues until nothing is due
        IF decided.verdict = 'wait' AND decided.wake_at <= p_now THEN
            decided.wake_at := p_now + AGAIN;
        END IF;
        done.verdict := decided.verdict;
        done.scheduled_for := decided.scheduled_for;
        done.reason := decided.reason;
        IF decided.verdict = 'look' THEN
            done := lockstep.job_ask(p_job, p_schedule, done, p_now, p_by);
        ELSIF decided.verdict = 'fire' AND (p_job.spec ? 'query' OR (p_schedule.rows_rule).mark IS NOT NULL) THEN
            done.verdict := 'ask';
            done.reason := CASE WHEN (p_schedule.rows_rule).relation IS NULL
                                    THEN lockstep.job_source(p_schedule, decided.missed_count)
                                ELSE decided.reason END;
            done := lockstep.job_ask(p_job, p_schedule, done, p_now, p_by);
        ELSE
            done.run := lockstep.job_act(p_job, p_schedule, decided, p_by);
        END IF;
        PERFORM lockstep.job_deferred();
    EXCEPTION
        WHEN OTHERS OR assert_failure THEN
            GET STACKED DIAGNOSTICS taken = CONSTRAINT_NAME;
            done.reason := SQLERRM;
            done.run := NULL;
            -- Another session is in the way, which is nothing that the job has done. Or a time that was undone fires
            -- again at the moment at which an executor reads its run from the topic.
            IF SQLSTATE IN ('55P03', '40P01', '40001') OR taken = 'run_queue_id_run_id_key' THEN
                pause := AGAIN;
            -- The server lacks room (class 53, but for 53400, a limit of the statement itself), or has trouble of its
            -- own (58, XX).
            ELSIF pg_catalog.left(SQLSTATE, 2) IN ('53', '58', 'XX') AND SQLSTATE <> '53400' THEN
                pause := lockstep.job_again(p_job, p_schedule, pg_catalog.concat_ws(': ', SQLSTATE, SQLERRM));
            END IF;
            IF pause IS NOT NULL THEN
                done.verdict := 'wait';
                UPDATE lockstep.schedule s SET wake_at = p_now + pause, asked_until = NULL
                WHERE s.schedule_id = p_schedule.schedule_id;
            ELSE
                done.verdict := 'error';
                PERFORM lockstep.job_failed(p_job, p_schedule, done.scheduled_for, p_by,
                                            pg_catalog.concat_ws(': ', SQLSTATE, SQLERRM));
            END IF;
    END;
    RETURN done;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_turn(lockstep.job, lockstep.schedule, timestamptz, text) FROM PUBLIC;
