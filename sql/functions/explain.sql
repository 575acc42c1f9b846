-- Why does it not go on? One of the three is given: a queue, a run, a task. The reasons, the first to be looked at first; each is
-- one of lockstep.wait_reason. What sessions do is told as far as the caller may see it (pg_read_all_stats).
CREATE OR REPLACE FUNCTION lockstep.explain(p_queue_id int DEFAULT NULL, p_run_no bigint DEFAULT NULL, p_task_id bigint DEFAULT NULL)
RETURNS SETOF lockstep.explanation LANGUAGE plpgsql AS $$
BEGIN
    IF p_task_id IS NOT NULL THEN
        RETURN QUERY SELECT * FROM lockstep.explain_task(p_task_id);
    ELSIF p_run_no IS NOT NULL THEN
        RETURN QUERY SELECT * FROM lockstep.explain_run(p_run_no);
    ELSE
        RETURN QUERY SELECT * FROM lockstep.explain_queue(p_queue_id);
        -- What its oldest runs wait for, and what they have at work.
        RETURN QUERY SELECT e.* FROM (SELECT r.run_no FROM lockstep.run r WHERE r.queue_id = p_queue_id AND r.ended_at IS NULL
                                      ORDER BY r.first_offset NULLS LAST LIMIT 1) AS oldest
                     CROSS JOIN LATERAL lockstep.explain_run(oldest.run_no, false) AS e;
        IF NOT EXISTS (SELECT FROM lockstep.run r WHERE r.queue_id = p_queue_id AND r.ended_at IS NULL) THEN
            RETURN QUERY SELECT (lockstep.explain_row('queue_idle', 'queue ' || q.name || ' has no run that has not ended', 'queue ' || q.name,
                                                      (SELECT pg_catalog.max(r.ended_at) FROM lockstep.run r WHERE r.queue_id = p_queue_id))).*
                         FROM lockstep.queue q WHERE q.queue_id = p_queue_id;
        END IF;
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain(int, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain(int, bigint, bigint) TO lockstep_executor, lockstep_operator, lockstep_monitor;
