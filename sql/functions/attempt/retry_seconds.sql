-- The seconds from the failure of an attempt until the next one is due, before that failure has its row: by
-- retry_intervals of the message, or of the queue (p_intervals). Only failed attempts use up an interval, lost ones do
-- not, nor do those before an operator's retry; the last interval repeats.
CREATE OR REPLACE FUNCTION lockstep.retry_seconds(p_task_id bigint, p_payload json, p_intervals float8[])
RETURNS float8 LANGUAGE sql STABLE AS $$
    SELECT COALESCE(w.intervals[LEAST(1 + (SELECT pg_catalog.count(*)
                                           FROM lockstep.task_attempt a
                                           WHERE a.task_id = p_task_id AND a.status = 'Error'
                                             AND a.attempt > (SELECT lockstep.attempts_done(p_task_id))),
                                      pg_catalog.cardinality(w.intervals))], 1)
    FROM (SELECT COALESCE((SELECT pg_catalog.array_agg(e::float8 ORDER BY n)
                           FROM pg_catalog.json_array_elements_text(
                               p_payload -> 'retry_intervals') WITH ORDINALITY AS i (e, n)),
                          p_intervals) AS intervals) AS w
$$;
REVOKE EXECUTE ON FUNCTION lockstep.retry_seconds(bigint, json, float8[]) FROM PUBLIC;
