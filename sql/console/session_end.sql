-- console_session_end :maybe  ends the session $1 with PostgreSQL, if it holds or awaits one of lockstep's locks,
-- because of $2
-- columns: document
WITH target AS MATERIALIZED (
    SELECT l.pid, (SELECT q.queue_id FROM lockstep.queue q WHERE q.name = l.queue) AS queue_id, l.state, l.kind,
           (SELECT format('%s (%s)', a.usename, a.application_name)
            FROM pg_catalog.pg_stat_activity a WHERE a.pid = l.pid) AS who
    FROM lockstep.lock_list() AS l WHERE l.pid = $1::int LIMIT 1),
done AS MATERIALIZED (SELECT t.*, pg_terminate_backend(t.pid) AS ended FROM target t),
logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT 'session_ended', d.queue_id,
           concat_ws(': ',
                     format('backend %s of %s, which %s a %s lock', d.pid, d.who,
                            CASE d.state WHEN 'held' THEN 'held' ELSE 'awaited' END, d.kind),
                     $2::text)
    FROM done d WHERE d.ended)
SELECT json_build_object('pid', d.pid, 'ended', d.ended, 'reason', $2::text) AS document FROM done d;
