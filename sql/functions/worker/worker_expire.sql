-- Returns external tasks of a queue whose worker has let its lease pass: the attempt is lost, not failed. A task that
-- was lost too often (queue.max_lost) is finally failed; a task that was cancelled meanwhile is left to give_up. A row
-- whose worker is reporting at this moment is skipped. Each session that asks for a task calls this, and executors call
-- it when they look for work without an owner.
CREATE OR REPLACE FUNCTION lockstep.worker_expire(p_queue_id int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    t record;
    why text;
    ended timestamptz;
    count bigint := 0;
BEGIN
    FOR t IN
        SELECT k.task_id, k.attempt_num, k.worker, k.started_at, k.lost_num + 1 AS lost,
               k.lost_num + 1 >= q.max_lost AS final
        -- by task_leased
        FROM lockstep.queue q JOIN lockstep.phase p USING (queue_id) JOIN lockstep.task k ON k.phase_id + 0 = p.phase_id
        JOIN lockstep.run r ON r.run_no = p.run_no
        WHERE q.queue_id = p_queue_id AND p.external AND p.opened_at IS NOT NULL AND p.done_at IS NULL
          AND k.type = 'external' AND k.status = 'Processing' AND k.lease_until < pg_catalog.clock_timestamp()
          AND k.cancelled_by IS NULL AND r.cancelled_at IS NULL
        ORDER BY k.task_id + 0 FOR NO KEY UPDATE OF k SKIP LOCKED
    LOOP -- + 0: see run_cancel
        ended := pg_catalog.clock_timestamp();
        why := CASE WHEN t.final THEN pg_catalog.format('given up: %s attempts were lost', t.lost)
                    ELSE 'lost: its worker''s lease ran out' END;
        INSERT INTO lockstep.task_attempt (task_id, attempt, status, worker, started_at, ended_at, error)
        VALUES (t.task_id, t.attempt_num, CASE WHEN t.final THEN 'Failed' ELSE 'Pending' END::lockstep.status, t.worker,
                t.started_at, ended, why)
        ON CONFLICT DO NOTHING;
        UPDATE lockstep.task k
        SET status = CASE WHEN t.final THEN 'Failed' ELSE 'Pending' END::lockstep.status, lost_num = t.lost,
            lease_until = NULL, worker = CASE WHEN t.final THEN k.worker END,
            attempt_num = k.attempt_num + CASE WHEN t.final THEN 0 ELSE 1 END,
            max_attempts = k.max_attempts + CASE WHEN t.final THEN 0 ELSE 1 END, -- it counts failed ones only
            error = CASE WHEN t.final THEN why ELSE k.error END,
            updated_at = GREATEST(ended, k.updated_at + interval '1 microsecond')
        WHERE k.task_id = t.task_id;
        IF t.final THEN
            INSERT INTO lockstep.worker_report (task_id) VALUES (t.task_id);
        END IF;
        count := count + 1;
    END LOOP;
    IF count > 0 THEN
        PERFORM pg_catalog.pg_notify('lockstep_external',
                                     (SELECT q.name FROM lockstep.queue q WHERE q.queue_id = p_queue_id));
    END IF;
    RETURN count;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.worker_expire(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.worker_expire(int) TO lockstep_executor;
