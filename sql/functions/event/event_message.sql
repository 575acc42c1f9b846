-- The value of an event's record: docs/reference/events.md. Counts are those of this moment; of a run of more than a
-- million tasks there are none by status, for they would have to be counted.
CREATE OR REPLACE FUNCTION lockstep.event_message(p_outbox_id bigint) RETURNS bytea LANGUAGE plpgsql STABLE AS $$
DECLARE
    o record;
    tasks jsonb;
BEGIN
    SELECT b.uid, b.event, t.about, b.created_at, q.name AS queue, b.run_no, r.run_id, r.name AS run_name, r.implicit,
           r.status, r.error, r.tasks, r.phases, r.rejected, b.phase_id, p."order", p.previous_order, p.opened_at,
           p.done_at, r.started_at, r.ended_at, b.task_id, k.seq, k.name AS task_name, k.type, k.attempt_num,
           k.error AS task_error, b.actor, b.detail, r.started_by,
           COALESCE(b.job, (SELECT j.name FROM lockstep.job j WHERE j.job_id = r.job_id)) AS job,
           (SELECT c.scheduled_for
            FROM lockstep.job_occurrence c WHERE r.job_id IS NOT NULL AND c.run_id = r.run_id LIMIT 1) AS scheduled_for
    INTO STRICT o
    FROM lockstep.outbox b
    JOIN lockstep.event_type t USING (event)
    JOIN lockstep.queue q USING (queue_id)
    LEFT JOIN lockstep.run r USING (run_no)
    LEFT JOIN lockstep.task k ON k.task_id = b.task_id
    LEFT JOIN lockstep.phase p ON p.phase_id = COALESCE(b.phase_id, k.phase_id)
    WHERE b.outbox_id = p_outbox_id;
    IF o.event IN ('phase_done', 'run_ended') AND o.tasks <= 1000000 THEN
        SELECT pg_catalog.jsonb_build_object('total', pg_catalog.count(*),
                   'completed', pg_catalog.count(*) FILTER (WHERE k.status = 'Completed'),
                   'failed', pg_catalog.count(*) FILTER (WHERE lockstep.is_failed(k.status)),
                   'cancelled', pg_catalog.count(*) FILTER (WHERE k.status = 'Cancelled')) INTO tasks
        FROM lockstep.phase h JOIN lockstep.task k USING (phase_id)
        WHERE CASE o.event WHEN 'run_ended' THEN h.run_no = o.run_no ELSE h.phase_id = o.phase_id END;
    ELSIF o.event = 'run_ended' THEN
        tasks := pg_catalog.jsonb_build_object('total', o.tasks);
    END IF;
    RETURN pg_catalog.convert_to(
        pg_catalog.jsonb_strip_nulls(
            pg_catalog.jsonb_build_object(
                'id', o.uid, 'event', o.event, 'at', lockstep.event_time(o.created_at), 'queue', o.queue,
                'run', o.run_id, 'run_name', o.run_name, 'implicit', NULLIF(o.implicit, false),
                'order', o."order", 'previous_order', CASE WHEN o.about = 'phase' THEN o.previous_order END,
                'task', CASE WHEN o.task_id IS NOT NULL
                                 THEN pg_catalog.jsonb_build_object('id', o.task_id, 'seq', o.seq, 'name', o.task_name,
                                          'type', o.type, 'attempt', o.attempt_num, 'error', o.task_error) END,
                'started_by', CASE WHEN o.about = 'run' THEN o.started_by END,
                'job', CASE WHEN o.about IN ('run', 'job') THEN o.job END,
                'scheduled_for', CASE WHEN o.about = 'run' THEN lockstep.event_time(o.scheduled_for) END,
                'status', CASE WHEN o.event = 'run_ended' THEN o.status END,
                'reason', CASE WHEN o.event = 'run_ended' THEN o.error END,
                'phases', CASE WHEN o.event = 'run_ended' THEN o.phases END,
                'rejected', CASE WHEN o.event = 'run_ended' THEN o.rejected END,
                'tasks', tasks,
                'started_at', lockstep.event_time(
                    CASE o.event WHEN 'run_ended' THEN o.started_at WHEN 'phase_done' THEN o.opened_at END),
                'actor', o.actor, 'detail', o.detail))::text,
        'UTF8');
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.event_message(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.event_message(bigint) TO lockstep_executor;
