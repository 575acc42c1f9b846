-- sweep_failed :none  a sweep of queue $1 was given up: why $2
INSERT INTO lockstep.retention AS t (queue_id, swept_at, detail)
VALUES ($1::int, clock_timestamp(), 'failed: ' || $2::text)
ON CONFLICT (queue_id) DO UPDATE SET swept_at = EXCLUDED.swept_at, detail = EXCLUDED.detail;
