-- console_explain_queue :maybe  why queue $1 does not continue; if $2 with the texts of errors and the queries of
-- sessions
-- columns: document
SELECT json_build_object(
           'lines', COALESCE(
               json_agg(json_build_object('reason', x.reason,
                                          'sentence', lockstep.shown('sentence', x.sentence, $2::boolean),
                                          'about', x.about, 'since', x.since, 'helps', x.helps) ORDER BY x.no),
               '[]'::json)) AS document
FROM (SELECT q.queue_id FROM lockstep.queue q WHERE q.name = $1::text) n
CROSS JOIN LATERAL lockstep.explain(CASE WHEN lockstep.queries_shown($2::boolean) THEN n.queue_id END, NULL,
                                    NULL) WITH ORDINALITY AS x (reason, sentence, about, since, helps, no)
GROUP BY n.queue_id;
