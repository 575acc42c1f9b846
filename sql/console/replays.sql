-- console_replays :one  the newest $1 replays before number $2, of queue $3 (NULL: all); interrupted: one that has not
-- ended, and no session drives it
-- columns: document
WITH found AS (
    SELECT r.replay_id
    FROM lockstep.replay r
    WHERE $3::text IS NULL OR r.queue_id = (SELECT q.queue_id FROM lockstep.queue q WHERE q.name = $3::text)),
page AS MATERIALIZED (
    SELECT f.replay_id
    FROM found f WHERE f.replay_id < COALESCE($2::bigint, 2147483647) ORDER BY f.replay_id DESC LIMIT $1::bigint)
SELECT lockstep.page(
           (SELECT json_agg(i ORDER BY i.replay_id DESC)
            FROM (SELECT r.replay_id, q.name AS queue, r.state AS status, r.mode, r.from_offset, r.to_offset, r.cursor,
                         r.run_id, r."order", r.made, r.reopened, r.reason, r.started_by AS actor, r.started_at,
                         r.ended_at,
                         CASE WHEN r.ended_at IS NULL THEN NOT EXISTS (
                                  SELECT FROM pg_catalog.pg_locks l
                                  WHERE l.locktype = 'advisory' AND l.classid = lockstep.lock_class('replay')::oid
                                    AND l.objid = r.queue_id::oid AND l.objsubid = 2 AND l.granted
                                    AND l.database = (SELECT d.oid
                                                      FROM pg_catalog.pg_database d
                                                      WHERE d.datname = current_database())) END AS interrupted
                  FROM lockstep.replay r JOIN lockstep.queue q USING (queue_id)
                  WHERE r.replay_id = ANY (ARRAY(SELECT replay_id FROM page))) i),
           (SELECT 'replays.' || min(replay_id) FROM page HAVING count(*) = $1::bigint),
           (SELECT count(*) FROM (SELECT FROM found LIMIT 10001) c)) AS document;
