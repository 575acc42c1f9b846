-- console_newest :many  the number of the newest event, 0 if there is none; a row for each stretch of numbers of the
-- last 1,000 that no event has: their transactions may yet commit, or never; one row with NULL if there is no such
-- stretch
-- columns: id, first, last
SELECT m.id, g.first, g.last
FROM (SELECT COALESCE(max(l.event_id), 0) AS id FROM lockstep.event_log l) m
LEFT JOIN LATERAL (
    SELECT n.event_id + 1 AS first, n.next_id - 1 AS last
    FROM (SELECT l.event_id, lead(l.event_id) OVER (ORDER BY l.event_id) AS next_id
          FROM lockstep.event_log l WHERE l.event_id >= m.id - 1000) n
    WHERE n.next_id > n.event_id + 1) g ON true
ORDER BY g.first;
