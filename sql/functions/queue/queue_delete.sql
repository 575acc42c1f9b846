-- Deletes a queue with its runs, tasks, records, jobs and events, unless a job of another queue runs after one of them;
-- returns how many tasks they were. p_reason: why, for the event log, which keeps who deleted which queue.
CREATE OR REPLACE FUNCTION lockstep.queue_delete(p_queue_id int, p_reason text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own text;
    tasks bigint;
    follower record;
BEGIN
    SELECT q.name INTO own FROM lockstep.queue q WHERE q.queue_id = p_queue_id FOR UPDATE; -- no claim runs beside us
    PERFORM FROM lockstep.job j WHERE j.queue_id = p_queue_id FOR UPDATE; -- none becomes a follower of them beside us
    SELECT f.name, s.name AS schedule, j.name AS follows INTO follower
    FROM lockstep.job j JOIN lockstep.schedule s ON s.after_job = j.job_id JOIN lockstep.job f ON f.job_id = s.job_id
    WHERE j.queue_id = p_queue_id AND f.queue_id IS DISTINCT FROM p_queue_id ORDER BY f.name, s.name LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'job % of another queue runs after job % of this one', follower.name, follower.follows
            USING ERRCODE = 'LS002',
                  HINT = format('Take that from it first: lockstep schedule remove %s %s', follower.name,
                                follower.schedule);
    END IF;
    PERFORM lockstep.job_note(j.name, 'changed', lockstep.actor(), 'deleted with queue ' || own)
    FROM lockstep.job j WHERE j.queue_id = p_queue_id;
    DELETE FROM lockstep.task_attempt a USING lockstep.task t WHERE a.task_id = t.task_id AND t.queue_id = p_queue_id;
    DELETE FROM lockstep.task t WHERE t.queue_id = p_queue_id;
    GET DIAGNOSTICS tasks = ROW_COUNT;
    -- By event_log_run and event_log_queue: retention deletes the events of queues that exist only.
    DELETE FROM lockstep.event_log l USING lockstep.run r WHERE l.run_no = r.run_no AND r.queue_id = p_queue_id;
    DELETE FROM lockstep.event_log l WHERE l.queue_id = p_queue_id AND l.run_no IS NULL;
    DELETE FROM lockstep.queue q WHERE q.queue_id = p_queue_id;
    IF own IS NOT NULL THEN
        INSERT INTO lockstep.event_log (event, queue_id, detail)
        VALUES ('queue_deleted', p_queue_id, concat_ws(': ', own, p_reason));
    END IF;
    PERFORM pg_notify('lockstep_' || p_queue_id, 'control');
    RETURN tasks;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.queue_delete(int, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.queue_delete(int, text) TO lockstep_operator;
