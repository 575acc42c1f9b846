-- console_phases :maybe  $1 phases of run $2 behind order $3, those that open first in front
-- columns: document
WITH no AS (SELECT r.run_no, r.phases FROM lockstep.run r WHERE r.run_id = $2::uuid ORDER BY r.run_no DESC LIMIT 1),
page AS (
    SELECT s.*, CASE WHEN s.done_at IS NOT NULL THEN 'done' WHEN s.opened_at IS NOT NULL THEN 'open' ELSE 'waiting' END AS state,
           lockstep.seconds(COALESCE(s.done_at, clock_timestamp()) - s.opened_at) AS seconds,
           lockstep.seconds(s.opened_at - b.done_at) AS barrier_s
    FROM no JOIN lockstep.phase_status s USING (run_no)
    LEFT JOIN LATERAL (SELECT p.done_at FROM lockstep.phase p WHERE p.run_no = s.run_no AND p."order" < s."order" ORDER BY p."order" DESC LIMIT 1) b ON true
    WHERE $3::bigint IS NULL OR s."order" > $3::bigint
    ORDER BY s."order" LIMIT $1::bigint)
SELECT lockstep.page((SELECT json_agg(p ORDER BY p."order") FROM page p), (SELECT 'phases.' || max("order") FROM page HAVING count(*) = $1::bigint),
                     no.phases::bigint) AS document
FROM no;
