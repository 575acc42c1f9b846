-- sweep_note :one  a sweep of queue $1 has ended: its result $2; runs that could not be deleted are added. Another
-- executor may sweep it now
-- columns: held
WITH unfinished AS MATERIALIZED ( -- of all queues: they are few
    SELECT s.run_no, s.held FROM lockstep.run_summary s WHERE s.swept_at IS NULL AND s.held IS NOT NULL),
noted AS (
    INSERT INTO lockstep.retention AS t (queue_id, swept_at, detail)
    SELECT $1::int, clock_timestamp(), $2::text || COALESCE((
        SELECT format('; %s held up: ', count(*)) || min(format('run %s: %s', r.run_id, s.held))
        FROM unfinished s JOIN lockstep.run r USING (run_no)
        WHERE r.queue_id = $1::int HAVING count(*) > 0), '')
    ON CONFLICT (queue_id) DO UPDATE SET swept_at = EXCLUDED.swept_at, detail = EXCLUDED.detail)
SELECT pg_advisory_unlock(lockstep.lock_class('sweep'), $1::int) AS held;
