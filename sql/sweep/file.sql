-- sweep_file :none  what the configuration file says about queue $1: keep_runs $2, keep_days $3, keep_failed_days $4
-- (NULL: nothing)
-- It holds unless `queue set` has said something else.
WITH changed AS (
    UPDATE lockstep.queue q SET keep_runs = $2::int, keep_days = $3::int, keep_failed_days = $4::int
    WHERE q.name = $1::text AND q.keep_set_by IS NULL
      AND (q.keep_runs, q.keep_days, q.keep_failed_days) IS DISTINCT FROM ($2::int, $3::int, $4::int)
    RETURNING q.queue_id, q.keep_runs, q.keep_days, q.keep_failed_days),
logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT 'queue_changed', c.queue_id,
           'by the file of an executor: kept ' || lockstep.keep_words(
               p_runs => c.keep_runs, p_days => c.keep_days, p_failed_days => c.keep_failed_days,
               p_set_by => NULL) FROM changed c)
SELECT pg_notify('lockstep_' || c.queue_id, 'control') FROM changed c;
