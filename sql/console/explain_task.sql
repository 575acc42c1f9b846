-- console_explain_task :maybe  why task $1 does not continue; if $2 with the texts of errors and the queries of
-- sessions
-- columns: document
SELECT json_build_object(
           'lines', COALESCE(
               json_agg(json_build_object('reason', x.reason,
                                          'sentence', lockstep.shown('sentence', x.sentence, $2::boolean),
                                          'about', x.about, 'since', x.since, 'helps', x.helps) ORDER BY x.no),
               '[]'::json)) AS document
FROM (SELECT t.task_id FROM lockstep.task t WHERE t.task_id = $1::bigint) n
CROSS JOIN LATERAL lockstep.explain(
    NULL, NULL, CASE WHEN lockstep.queries_shown($2::boolean) THEN n.task_id END) WITH ORDINALITY
    AS x (reason, sentence, about, since, helps, no)
GROUP BY n.task_id;
