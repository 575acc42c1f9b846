-- A run as the API has it. Its tasks are counted if it has at most p_most (counted_all). Of a larger one those of the
-- phases that are not done are counted, as lockstep.phase_counts does it; of all others is known how many have failed
-- since it was opened, from the newest 1,000 lines of the log of events; the rest counts as completed.
CREATE OR REPLACE FUNCTION lockstep.run_document(p_run_no bigint, p_most bigint, p_payloads boolean) RETURNS json
LANGUAGE plpgsql STABLE AS $$
DECLARE
    own lockstep.run;
    swept lockstep.run_summary;
    c record;
    is_small boolean;
BEGIN
    SELECT r.* INTO STRICT own FROM lockstep.run r WHERE r.run_no = p_run_no;
    SELECT s.* INTO swept FROM lockstep.run_summary s WHERE s.run_no = p_run_no;
    is_small := own.tasks - COALESCE(swept.tasks, 0) <= p_most;
    IF is_small THEN
        SELECT pg_catalog.count(*) AS tasks,
               pg_catalog.count(*) FILTER (WHERE t.status IN ('Pending', 'Paused')) AS pending,
               pg_catalog.count(*) FILTER (WHERE t.status = 'Processing') AS processing,
               pg_catalog.count(*) FILTER (WHERE t.status = 'Error') AS error,
               pg_catalog.count(*) FILTER (WHERE t.status = 'Completed') AS completed,
               pg_catalog.count(*) FILTER (WHERE lockstep.is_failed(t.status)) AS failed,
               pg_catalog.count(*) FILTER (WHERE t.status = 'Cancelled') AS cancelled
        INTO c
        -- phase by phase
        FROM lockstep.phase p
        CROSS JOIN LATERAL (SELECT k.status FROM lockstep.task k WHERE k.phase_id = p.phase_id OFFSET 0) t
        WHERE p.run_no = p_run_no;
    ELSE
        SELECT own.tasks - COALESCE(swept.tasks, 0) AS tasks, COALESCE(pg_catalog.sum(n.pending), 0)::bigint AS pending,
               COALESCE(pg_catalog.sum(n.processing), 0)::bigint AS processing,
               COALESCE(pg_catalog.sum(n.error), 0)::bigint AS error, 0::bigint AS completed,
               GREATEST(COALESCE(pg_catalog.sum(n.failed), 0)::bigint,
                        (SELECT COALESCE(pg_catalog.sum(f.failed), 0)::bigint
                         FROM lockstep.run_failures(p_run_no) f)) AS failed,
               COALESCE(pg_catalog.sum(n.cancelled), 0)::bigint AS cancelled
        INTO c
        -- by phase_left
        FROM (SELECT b.phase_id, b.opened_at, b.done_at
              FROM lockstep.phase b
              WHERE b.run_no + 0 = p_run_no AND b.done_at IS NULL ORDER BY b."order" + 0 LIMIT 100) p
        CROSS JOIN LATERAL lockstep.phase_counts(p.phase_id, p.opened_at IS NOT NULL, false,
                                                 GREATEST(p_most / 10, 100)) AS n;
        c.completed := GREATEST(c.tasks - c.pending - c.processing - c.error - c.failed - c.cancelled, 0);
    END IF;
    RETURN (
        SELECT pg_catalog.to_json(i)
        FROM (
            SELECT q.name AS queue, own.run_id, own.name, lockstep.run_state(own.status, own.published_at) AS status,
                   c.tasks + COALESCE(swept.tasks, 0) AS tasks, c.pending, c.processing, c.error,
                   c.completed + COALESCE(swept.completed, 0) AS completed,
                   c.failed + COALESCE(swept.failed, 0) AS failed,
                   c.cancelled + COALESCE(swept.cancelled, 0) AS cancelled, is_small AS counted_all,
                   (SELECT p."order"
                    FROM lockstep.phase p
                    WHERE p.run_no + 0 = p_run_no AND p.opened_at IS NOT NULL AND p.done_at IS NULL
                    ORDER BY p."order" + 0 LIMIT 1) AS "order",
                   own.published_at, own.started_at, own.ended_at, own.phases, own.rejected, own.on_failure,
                   own.implicit, lockstep.shown('sentence', own.error, p_payloads) AS reason, own.run_no, own.end_tasks,
                   own.end_phases, swept.swept_at, own.swept,
                   COALESCE(own.end_tasks,
                            CASE WHEN own.published_at IS NOT NULL THEN own.publish_acked_seq
                                 ELSE NULLIF(own.publish_acked_seq + 1, 0) END) AS published_tasks,
                   own.started_by,
                   lockstep.seconds(COALESCE(own.ended_at, pg_catalog.clock_timestamp()) - own.started_at) AS seconds,
                   own.paused_by, own.paused_at, own.cancelled_by, own.cancelled_at,
                   (SELECT j.name FROM lockstep.job j WHERE j.job_id = own.job_id) AS job
            FROM lockstep.queue q WHERE q.queue_id = own.queue_id) i);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_document(bigint, bigint, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.run_document(bigint, bigint, boolean) TO lockstep_operator, lockstep_monitor;
