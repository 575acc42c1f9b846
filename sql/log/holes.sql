-- log_holes :one  the highest number in the log, and those above $1 (NULL: of the last 1000) that are missing: their
-- transactions may yet commit, or never
-- columns: top, holes
SELECT m.top, ARRAY(SELECT g.id FROM generate_series(m.low + 1, m.top) AS g (id)
                    WHERE NOT EXISTS (SELECT FROM lockstep.event_log l WHERE l.event_id = g.id)
                    ORDER BY g.id DESC LIMIT 1000)::text AS holes
FROM (SELECT t.top, COALESCE($1::bigint, greatest(t.top - 1000, 0)) AS low
      FROM (SELECT COALESCE(max(l.event_id), 0) AS top FROM lockstep.event_log l) t) m;
