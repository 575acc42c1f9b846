-- console_runs :one  the newest $1 runs before number $2, of queue $3, in states $4, with $5 in their name, published or started from $6 to $7 (NULL: any)
-- columns: document
WITH mine AS (
    SELECT q.queue_id FROM lockstep.queue q WHERE $3::text IS NULL OR q.name = $3::text),
page AS (
    SELECT b.run_no FROM mine q CROSS JOIN LATERAL (
        SELECT r.run_no FROM lockstep.run r
        WHERE r.queue_id::bigint BETWEEN q.queue_id AND q.queue_id AND ($2::bigint IS NULL OR r.run_no < $2::bigint) -- by run_newest
          AND ($4::text[] IS NULL OR CASE WHEN r.status = 'Publishing' AND r.published_at IS NOT NULL THEN 'Published' ELSE r.status END = ANY ($4::text[]))
          AND ($5::text IS NULL OR strpos(lower(concat_ws(' ', r.name, r.run_id)), lower($5::text)) > 0)
          AND ($6::timestamptz IS NULL OR r.created_at >= $6::timestamptz) AND ($7::timestamptz IS NULL OR r.created_at <= $7::timestamptz)
        ORDER BY r.queue_id::bigint DESC, r.run_no DESC LIMIT $1::bigint) b
    ORDER BY b.run_no DESC LIMIT $1::bigint),
counted AS (
    SELECT count(*) AS n FROM (
        SELECT FROM mine q CROSS JOIN LATERAL (
            SELECT FROM lockstep.run r
            WHERE r.queue_id::bigint BETWEEN q.queue_id AND q.queue_id
              AND ($4::text[] IS NULL OR CASE WHEN r.status = 'Publishing' AND r.published_at IS NOT NULL THEN 'Published' ELSE r.status END = ANY ($4::text[]))
              AND ($5::text IS NULL OR strpos(lower(concat_ws(' ', r.name, r.run_id)), lower($5::text)) > 0)
              AND ($6::timestamptz IS NULL OR r.created_at >= $6::timestamptz) AND ($7::timestamptz IS NULL OR r.created_at <= $7::timestamptz)
            LIMIT 10001) b
        LIMIT 10001) c)
SELECT lockstep.page((SELECT json_agg(i ORDER BY i.run_no DESC)
                      FROM (SELECT s.*, lockstep.seconds(COALESCE(s.ended_at, clock_timestamp()) - s.started_at) AS seconds
                            FROM lockstep.run_status s WHERE s.run_no = ANY (ARRAY(SELECT run_no FROM page))) i),
                     (SELECT 'runs.' || min(run_no) FROM page HAVING count(*) = $1::bigint),
                     (SELECT n FROM counted)) AS document;
