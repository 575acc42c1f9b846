-- The reasons for explain, in the order in which they are found. Of the three ids one is given: a task, a run or a
-- queue.
CREATE OR REPLACE FUNCTION lockstep.explain_all(p_queue_id int, p_run_no bigint, p_task_id bigint)
RETURNS SETOF lockstep.explanation LANGUAGE plpgsql AS $$
DECLARE
    oldest record;
BEGIN
    IF lockstep.explain_blind() THEN
        RETURN NEXT lockstep.explain_row('standby',
                                         'this server is a standby: the executors, their locks and their sessions are '
                                         'on the primary and cannot be seen here',
                                         'server', NULL);
    END IF;
    IF p_task_id IS NOT NULL THEN
        RETURN QUERY SELECT * FROM lockstep.explain_task(p_task_id);
    ELSIF p_run_no IS NOT NULL THEN
        RETURN QUERY SELECT * FROM lockstep.explain_run(p_run_no);
    ELSE
        RETURN QUERY SELECT * FROM lockstep.explain_queue(p_queue_id);
        -- The oldest run of the queue: its tasks that run, and the cause for which the others wait. Where runs are
        -- concurrent they do not wait for one that is paused.
        SELECT r.run_no INTO oldest
        FROM lockstep.run r JOIN lockstep.queue q USING (queue_id)
        WHERE r.queue_id = p_queue_id AND r.ended_at IS NULL
        ORDER BY (r.status = 'Paused' OR r.paused_by IS NOT NULL) AND NOT r.implicit AND q.runs <> 'serial',
                 r.first_offset NULLS LAST LIMIT 1;
        IF oldest.run_no IS NOT NULL THEN
            RETURN QUERY SELECT * FROM lockstep.explain_run(oldest.run_no, false);
        ELSE
            RETURN QUERY
            SELECT x.* -- not (explain_row(...)).*, which calls it for each column
            FROM lockstep.queue q
            CROSS JOIN LATERAL (
                SELECT pg_catalog.max(n.ended_at) AS at -- of the newest, by run_newest
                FROM (SELECT r.ended_at FROM lockstep.run r
                      WHERE (r.queue_id::bigint, r.run_no) >= (p_queue_id, 0)
                        AND (r.queue_id::bigint, r.run_no) < (p_queue_id::bigint + 1, 0)
                      ORDER BY r.queue_id::bigint DESC, r.run_no DESC LIMIT 100) n) ended
            CROSS JOIN LATERAL lockstep.explain_row(
                'queue_idle', 'queue ' || q.name || ' has no run that has not ended', 'queue ' || q.name, ended.at) x
            WHERE q.queue_id = p_queue_id;
        END IF;
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_all(int, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_all(int, bigint, bigint)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
