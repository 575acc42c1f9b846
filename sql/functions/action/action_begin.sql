-- An attempt outside the database begins: it is shown as Processing. This is durable before the action starts, with all
-- changes that led to it, because the action cannot be undone. p_step: it is a step of an attempt that has begun. The
-- answer has the values for the command or the server. A stale token raises an error.
CREATE OR REPLACE FUNCTION lockstep.action_begin(
    p_task_id bigint, p_token uuid, p_step boolean, OUT queue text, OUT run_id uuid, OUT "order" bigint, OUT seq bigint,
    OUT kafka_offset bigint, OUT attempt_num int, OUT traceparent text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('synchronous_commit', 'on', true);
    UPDATE lockstep.task t
    SET status = 'Processing', started_at = CASE WHEN p_step THEN t.started_at ELSE clock_timestamp() END,
        updated_at = clock_timestamp(), backend_pid = pg_backend_pid()
    FROM lockstep.run r, lockstep.queue q
    WHERE t.task_id = p_task_id AND t.token = p_token AND r.run_no = t.run_no AND q.queue_id = t.queue_id
    RETURNING q.name, r.run_id, t."order", t.seq, t.kafka_offset, t.attempt_num, t.traceparent
    INTO queue, run_id, "order", seq, kafka_offset, attempt_num, traceparent;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'task %: this attempt is no longer the current one', p_task_id USING ERRCODE = 'LS001';
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.action_begin(bigint, uuid, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.action_begin(bigint, uuid, boolean) TO lockstep_task;
