-- For each of these queues: how many executors work for it, and how many of those that serve it live and do not work
-- (silent, draining, held, without readers, cut off). NULL: it cannot be seen here.
CREATE OR REPLACE FUNCTION lockstep.executors_by_queue(p_queues text[])
RETURNS TABLE (queue text, working bigint, hindered bigint) LANGUAGE sql STABLE AS $$
    WITH alive AS MATERIALIZED (SELECT lockstep.executors_alive() AS nos),
    served AS MATERIALIZED (
        SELECT n.queue,
               e.heartbeat_at >= pg_catalog.clock_timestamp() - e.frozen_after
               AND NOT lockstep.is_troubled(e.trouble, e.trouble_kind, e.queue_trouble[n.place])
               AND e.drain_by IS NULL AND e.signalled IS NULL AND COALESCE(e.readers_limit, e.readers) > 0 AS works
        FROM lockstep.executor e CROSS JOIN LATERAL pg_catalog.unnest(e.queues) WITH ORDINALITY AS n (queue, place)
        WHERE e.ended_at IS NULL AND e.executor_no = ANY ((SELECT a.nos FROM alive a)::int[]))
    SELECT q.name, CASE WHEN a.nos IS NOT NULL THEN pg_catalog.count(*) FILTER (WHERE s.works) END,
           CASE WHEN a.nos IS NOT NULL THEN pg_catalog.count(*) FILTER (WHERE NOT s.works) END
    FROM alive a CROSS JOIN pg_catalog.unnest(p_queues) AS q (name) LEFT JOIN served s ON s.queue = q.name
    GROUP BY q.name, a.nos
$$;
REVOKE EXECUTE ON FUNCTION lockstep.executors_by_queue(text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.executors_by_queue(text[]) TO lockstep_operator, lockstep_monitor;
