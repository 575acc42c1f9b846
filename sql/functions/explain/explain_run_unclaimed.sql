-- A run of which no message is claimed yet, for explain_run: it is enqueued and not on the topic, its producer is at
-- work or gone, or its records were deleted with the topic.
CREATE OR REPLACE FUNCTION lockstep.explain_run_unclaimed(p_run lockstep.run, p_about text, p_names text[])
RETURNS SETOF lockstep.explanation LANGUAGE plpgsql AS $$
DECLARE
    endless record; -- why its end has not come
    next_offset CONSTANT bigint := (SELECT q.next_offset FROM lockstep.queue q WHERE q.queue_id = p_run.queue_id);
BEGIN
    IF EXISTS (SELECT FROM lockstep.enqueued e WHERE e.run_no = p_run.run_no) THEN
        RETURN NEXT lockstep.explain_row(
            'run_enqueued',
            pg_catalog.format('%s was enqueued by %s and is not on the topic yet%s%s', p_about, p_run.published_by,
                              (SELECT pg_catalog.format(': backend %s of %s is publishing', a.pid, a.usename)
                               FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a USING (pid)
                               WHERE l.locktype = 'advisory' AND l.classid = lockstep.lock_class('producer')::oid
                                 AND l.objid = p_run.queue_id::oid AND l.objsubid = 2
                                 AND l.database = (
                                     SELECT d.oid
                                     FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())
                               LIMIT 1),
                              (SELECT ': ' || y.trouble
                               FROM lockstep.relay y WHERE y.queue_id = p_run.queue_id AND y.kind = 'enqueue')),
            p_about, p_run.created_at, p_names);
        RETURN;
    END IF;
    endless := lockstep.explain_end(p_run.run_no);
    RETURN NEXT lockstep.explain_row(
        CASE WHEN endless.reason IN ('run_publishing', 'run_abandoned', 'run_abandoned_redrive', 'run_records_gone')
                 THEN endless.reason ELSE 'run_unclaimed' END,
        CASE WHEN endless.reason = 'run_records_gone' THEN pg_catalog.format(
                 'nothing of %s will be claimed: %s, to offset %s', p_about, endless.why, next_offset)
             ELSE pg_catalog.format('nothing of %s is claimed yet%s: the queue''s cursor is at offset %s', p_about,
                                    CASE WHEN p_run.published_at IS NULL THEN ', and ' || endless.why ELSE '' END,
                                    next_offset) END,
        p_about, COALESCE(p_run.published_at, p_run.created_at), p_names);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_run_unclaimed(lockstep.run, text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_run_unclaimed(lockstep.run, text, text[])
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
