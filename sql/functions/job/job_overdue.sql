-- Cancels runs of jobs that are longer than max_runtime (since they began, or were retried), and zombies: runs of which
-- for zombie_after no task has run, is to run or has ended, and whose end does not come. A run that still works, or
-- that waits for its turn, is no zombie. A run that no executor has claimed is none either, unless its messages are
-- lost: the queue was read to its end by an executor that has lived for so long, which has no other work. Each run is
-- cancelled by itself: a run that cannot be cancelled is named in its job's log, once, and the others are cancelled. If
-- another session holds a queue, the same look waits for no further run of it. The answer is the runs that were
-- cancelled.
CREATE OR REPLACE FUNCTION lockstep.job_overdue() RETURNS TABLE (job text, run uuid, why text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
#variable_conflict use_column
DECLARE
    MOST CONSTANT bigint := 100;                     -- of a look
    LONGEST CONSTANT interval := interval '10 seconds'; -- waits are in it
    began CONSTANT timestamptz := clock_timestamp();
    one record;
    failure text;
    held int[] := '{}';
    count bigint := 0;
BEGIN
    FOR one IN
        SELECT j.name, r.run_id, r.started_by, q.queue_id, q.name AS queue,
               GREATEST(r.created_at, r.reopened_at) < clock_timestamp() - j.max_runtime AS is_long, j.max_runtime,
               j.zombie_after
        -- by run_of_job
        FROM (SELECT b.*
              FROM lockstep.run b WHERE b.job_id > 0 AND b.ended_at IS NULL AND b.cancelled_at IS NULL OFFSET 0) r
        JOIN lockstep.job j USING (job_id) JOIN lockstep.queue q ON q.queue_id = r.queue_id
        WHERE (GREATEST(r.created_at, r.reopened_at) < clock_timestamp() - j.max_runtime
               -- While executors may still find something of it on the topic it is none. An offset more: of the
               -- transaction's end.
               OR ((r.started_at < clock_timestamp() - j.zombie_after
                    OR r.published_at IS NOT NULL AND lockstep.job_unclaimed(r.run_no, j.zombie_after))
                   AND NOT q.paused AND q.halted_reason IS NULL
                   AND q.next_offset + 1 >= COALESCE(
                       (SELECT y.next_offset
                        FROM lockstep.relay y WHERE y.queue_id = q.queue_id AND y.kind = 'enqueue'),
                       0)
                   AND NOT EXISTS (
                       SELECT FROM lockstep.phase p JOIN lockstep.task t USING (phase_id)
                       WHERE p.run_no = r.run_no
                         AND (NOT lockstep.is_finished(t.status)
                              OR t.updated_at > clock_timestamp() - j.zombie_after))))
        ORDER BY r.run_no
    LOOP
        EXIT WHEN count = MOST OR clock_timestamp() > began + LONGEST;
        CONTINUE WHEN one.queue_id = ANY (held);
        BEGIN
            why := CASE WHEN one.is_long THEN format('longer than max_runtime, %s', one.max_runtime)
                        ELSE format('a zombie: nothing of it for %s', one.zombie_after) END;
            PERFORM lockstep.run_cancel(one.run_id, format('job %s: %s', one.name, why), one.queue);
            PERFORM lockstep.job_deferred();
        EXCEPTION
            WHEN SQLSTATE 'LS002' THEN -- it has just ended
                CONTINUE;
            WHEN lock_not_available OR deadlock_detected OR serialization_failure THEN -- the next look finds it again
                held := held || one.queue_id;
                CONTINUE;
            WHEN OTHERS THEN
                failure := format('the run is to be cancelled, and cannot be: %s: %s', SQLSTATE, left(SQLERRM, 2000));
                IF NOT EXISTS (SELECT FROM lockstep.job_event e
                               WHERE e.job = one.name AND e.run_id = one.run_id AND e.event = 'error'
                                 AND e.message = failure) THEN
                    PERFORM lockstep.job_note(one.name, 'error', one.started_by, failure, one.run_id);
                END IF;
                CONTINUE;
        END;
        PERFORM lockstep.job_note(
            one.name, CASE WHEN one.is_long THEN 'error' ELSE 'zombie' END, one.started_by,
            CASE WHEN one.is_long THEN format('the run is cancelled: it is longer than %s', one.max_runtime)
                 ELSE format('the run is cancelled: nothing of it ran or ended for %s', one.zombie_after) END,
            one.run_id);
        count := count + 1;
        job := one.name;
        run := one.run_id;
        RETURN NEXT;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_overdue() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_overdue() TO lockstep_executor;
