-- Firings: decides the schedules that are due, those that have been due for longest first, in one transaction, and at
-- most p_most of them. The session that holds the lock of dispatch calls this until no schedule is due. Two things make
-- it safe: the lock of the job's row, and the one occurrence that a scheduled time may have. A job that another session
-- is changing is skipped for now, and so is a schedule that the end of a run holds. p_asks: the caller can run SQL of
-- users now; otherwise schedules that need it wait. Each schedule is decided as if it were alone: a failure undoes its
-- own changes only (job_turn). A decision that could wait or take long has a transaction of its own, because other
-- sessions wait for the rows that a batch has: a run that may have to be cancelled (whose end may hold the schedule's
-- row, so that is locked later), SQL of users, a large template. A firing that has to wait nevertheless, for a second
-- at most, ends the batch. A request has its turn (job_request_turn) when no schedule is due, and before a schedule
-- with SQL of users that is due later than the request. The answer has a row for each schedule that was decided:
--   verdict   error; otherwise as job_turn. NULL, in the last row: no schedule is due any more, for wait_us (NULL:
--             until it is notified). Without such a row more may be due.
CREATE OR REPLACE FUNCTION lockstep.dispatch(
    p_by text, p_now timestamptz DEFAULT NULL, p_asks boolean DEFAULT true, p_most int DEFAULT 1)
RETURNS SETOF lockstep.dispatched
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off
    SET plan_cache_mode = force_generic_plan SET lock_timeout = '1s' AS $$
DECLARE
    HELD_US CONSTANT bigint := 200000;
    PAGE CONSTANT int := p_most + 20;              -- schedules that are read at a time: some of them may be held
    -- 20 ms of 32: after that no schedule is added to a batch, because its decisions become visible when it commits
    LONGEST CONSTANT interval := p_most * interval '625 us';
    SMALL CONSTANT int := 8192;                    -- bytes of a template: a larger one is read in its own turn only
    began CONSTANT timestamptz := clock_timestamp();
    now CONSTANT timestamptz := COALESCE(p_now, began);
    due record;
    job lockstep.job;
    own lockstep.schedule;
    read int;
    last_at timestamptz := '-infinity';            -- of the page before, all of which are decided or held
    last_id int := 0;
    done lockstep.dispatched;
    next timestamptz;
    decided int := 0;
BEGIN
    <<pages>>
    LOOP
        read := 0;
        FOR due IN
            SELECT s.schedule_id, s.job_id, s.wake_at, s.uses_sql, j.overlap = 'cancel' AS cancels,
                   CASE WHEN GREATEST(pg_column_size(j.spec), pg_column_size(j.declared)) <= SMALL THEN j END AS job,
                   s.uses_sql OR j.overlap = 'cancel' OR pg_column_size(j.spec) > SMALL AS is_alone
            FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
            WHERE s.is_active AND s.wake_at <= now AND (s.wake_at, s.schedule_id) > (last_at, last_id)
              AND (s.asked_until IS NULL OR s.asked_until <= now) AND (p_asks OR NOT s.uses_sql)
            ORDER BY s.wake_at, s.schedule_id LIMIT PAGE FOR NO KEY UPDATE OF j SKIP LOCKED
        LOOP
            -- a given clock does not move
            EXIT pages WHEN decided = p_most
                            OR decided > 0 AND (due.is_alone OR p_now IS NULL AND clock_timestamp() > began + LONGEST);
            IF due.uses_sql THEN
                IF EXISTS (SELECT FROM lockstep.job_ask a WHERE a.wake_at < due.wake_at) THEN
                    done := lockstep.job_request_turn(now, p_by);
                    IF done.verdict IS NOT NULL THEN
                        RETURN NEXT done;
                        RETURN;
                    END IF;
                END IF;
            END IF;
            read := read + 1;
            last_at := due.wake_at;
            last_id := due.schedule_id;
            IF due.cancels THEN
                SELECT s.* INTO own FROM lockstep.schedule s WHERE s.schedule_id = due.schedule_id;
            ELSE
                SELECT s.* INTO own
                FROM lockstep.schedule s WHERE s.schedule_id = due.schedule_id FOR NO KEY UPDATE SKIP LOCKED;
                CONTINUE WHEN NOT FOUND;
            END IF;
            job := due.job;
            IF job.job_id IS NULL THEN
                SELECT j.* INTO job FROM lockstep.job j WHERE j.job_id = due.job_id;
            END IF;
            done := lockstep.job_turn(job, own, now, p_by);
            RETURN NEXT done;
            decided := decided + 1;
            EXIT pages WHEN due.is_alone OR done.verdict = 'wait'; -- wait: another session is in the way
        END LOOP;
        EXIT WHEN decided = p_most OR read < PAGE;
    END LOOP;
    IF decided > 0 THEN
        RETURN;
    END IF;
    IF p_asks THEN
        done := lockstep.job_request_turn(now, p_by);
        IF done.verdict IS NOT NULL THEN
            RETURN NEXT done;
            RETURN;
        END IF;
    END IF;
    next := LEAST((SELECT s.wake_at
                   FROM lockstep.schedule s
                   WHERE s.is_active AND s.wake_at IS NOT NULL AND s.asked_until IS NULL AND (p_asks OR NOT s.uses_sql)
                   ORDER BY s.wake_at LIMIT 1),
                  (SELECT min(GREATEST(s.wake_at, s.asked_until))
                   FROM lockstep.schedule s WHERE s.asked_until IS NOT NULL AND s.is_active AND p_asks),
                  (SELECT min(a.wake_at) FROM lockstep.job_ask a WHERE a.wake_at IS NOT NULL AND p_asks));
    -- otherwise from this moment on: this function has taken its time, too
    done.wait_us := CASE WHEN next <= now THEN HELD_US
                         WHEN next > now THEN LEAST(
                             GREATEST(ceil(date_part('epoch', next - COALESCE(p_now, clock_timestamp())) * 1000000), 0),
                             2000000000000) END;
    RETURN NEXT done;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.dispatch(text, timestamptz, boolean, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.dispatch(text, timestamptz, boolean, int) TO lockstep_executor;
