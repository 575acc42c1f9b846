-- console_explain_run :maybe  why run $1 does not continue; if $2 with the texts of errors and the queries of sessions
-- columns: document
SELECT json_build_object(
           'lines', COALESCE(
               json_agg(json_build_object('reason', x.reason,
                                          'sentence', lockstep.shown('sentence', x.sentence, $2::boolean),
                                          'about', x.about, 'since', x.since, 'helps', x.helps) ORDER BY x.no),
               '[]'::json)) AS document
FROM (SELECT r.run_no FROM lockstep.run r WHERE r.run_id = $1::uuid ORDER BY r.run_no DESC LIMIT 1) n
CROSS JOIN LATERAL lockstep.explain(NULL, CASE WHEN lockstep.queries_shown($2::boolean) THEN n.run_no END,
                                    NULL) WITH ORDINALITY AS x (reason, sentence, about, since, helps, no)
GROUP BY n.run_no;
