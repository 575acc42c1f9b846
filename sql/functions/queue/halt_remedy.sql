-- The act that resolves the halt of a queue; NULL: it is not halted.
CREATE OR REPLACE FUNCTION lockstep.halt_remedy(p_queue_id int) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.replace(h.remedy, 'QUEUE', q.name)
    FROM lockstep.queue q JOIN lockstep.halt_reason h ON h.reason = q.halted_reason WHERE q.queue_id = p_queue_id
$$;
REVOKE EXECUTE ON FUNCTION lockstep.halt_remedy(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.halt_remedy(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
