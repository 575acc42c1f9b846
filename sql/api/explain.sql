-- Why does it not continue? One of the three is given: a queue, a run, a task. Each reason is one of
-- lockstep.wait_reason, and its rank there orders them: reasons on which a person can act come first, and for a task
-- its own reasons. Each is listed once. There is always one.
CREATE OR REPLACE FUNCTION lockstep.explain(
    p_queue_id int DEFAULT NULL, p_run_no bigint DEFAULT NULL, p_task_id bigint DEFAULT NULL)
RETURNS SETOF lockstep.explanation LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT e.reason, e.sentence, e.about, e.since,
           lockstep.explain_helps(CASE WHEN p_run_no IS NULL AND p_task_id IS NULL -- it is this answer
                                           THEN pg_catalog.regexp_replace(
                                           e.helps, '[.] [^.:]*: lockstep queue explain .*$', '')
                                       ELSE e.helps END,
                                  -- of those that a person can act on
                                  pg_catalog.bool_or(w.rank < 25 AND e.helps NOT LIKE 'Nothing%') OVER ())
    FROM (SELECT DISTINCT ON (x.reason, x.sentence) x.*
          FROM lockstep.explain_all(p_queue_id, p_run_no, p_task_id) WITH ORDINALITY
                    AS x (reason, sentence, about, since, helps, no)
          ORDER BY x.reason, x.sentence, x.no) AS e
    JOIN lockstep.wait_reason w USING (reason)
    ORDER BY w.rank + CASE WHEN p_task_id IS NOT NULL AND e.about LIKE 'task %'
                                AND pg_catalog.split_part(e.about, ' ', 2) <> p_task_id::text
                               THEN 10
                           ELSE 0 END,
             e.no;
    IF NOT FOUND THEN -- everything that could be waited for was done, or has ended between two statements
        RETURN QUERY
        SELECT (lockstep.explain_row(
                    'nothing_waits',
                    pg_catalog.format(
                        'nothing is waited for at this moment%s',
                        (SELECT pg_catalog.format(
                                    ': run %s is %s, %s of its phases are done',
                                    pg_catalog.concat_ws(' ', r.run_id, '"' || r.name || '"'), r.status,
                                    (SELECT pg_catalog.count(*)
                                     FROM lockstep.phase p WHERE p.run_no = r.run_no AND p.done_at IS NOT NULL))
                         FROM lockstep.run r
                         WHERE r.run_no = COALESCE(
                                   p_run_no, (SELECT t.run_no FROM lockstep.task t WHERE t.task_id = p_task_id)))),
                    '', NULL)).*;
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain(int, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain(int, bigint, bigint)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
