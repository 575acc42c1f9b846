-- console_phases :maybe  $1 phases of run $2 behind order $3, those that open first in front; of all of them 10,000
-- tasks are counted, or 50 of each: lockstep.phase_counts
-- columns: document
WITH no AS (
    SELECT r.run_no, r.run_id, r.phases, q.name AS queue
    FROM lockstep.run r JOIN lockstep.queue q USING (queue_id)
    WHERE r.run_id = $2::uuid ORDER BY r.run_no DESC LIMIT 1),
page AS (
    SELECT no.run_id, p."order", p.previous_order, c.tasks, c.completed + c.failed + c.cancelled AS finished,
           p.opened_at, p.done_at, no.queue, c.processing, c.completed, c.failed, c.cancelled, c.error, c.first_start,
           c.last_end, p.phase_id, no.run_no, c.counted_all,
           CASE WHEN p.done_at IS NOT NULL THEN 'done'
                WHEN p.opened_at IS NOT NULL THEN 'open' ELSE 'waiting' END AS state,
           lockstep.seconds(COALESCE(p.done_at, clock_timestamp()) - p.opened_at) AS seconds,
           lockstep.seconds(p.opened_at - b.done_at) AS barrier_s
    FROM no
    CROSS JOIN LATERAL (
        SELECT k.phase_id, k."order", k.previous_order, k.opened_at, k.done_at
        FROM lockstep.phase k
        WHERE k.run_no = no.run_no AND ($3::bigint IS NULL OR k."order" > $3::bigint)
        ORDER BY k."order" LIMIT $1::bigint) p
    CROSS JOIN LATERAL lockstep.phase_counts(
        p_phase_id => p.phase_id, p_opened => p.opened_at IS NOT NULL, p_done => p.done_at IS NOT NULL,
        p_most => GREATEST(10000 / GREATEST(LEAST($1::bigint, no.phases), 1), 50)) AS c
    LEFT JOIN LATERAL (SELECT e.done_at
                       FROM lockstep.phase e
                       WHERE e.run_no = no.run_no AND e."order" < p."order" ORDER BY e."order" DESC LIMIT 1) b ON true)
SELECT lockstep.page((SELECT json_agg(p ORDER BY p."order") FROM page p),
                     (SELECT 'phases.' || max("order") FROM page HAVING count(*) = $1::bigint),
                     no.phases::bigint) AS document
FROM no;
