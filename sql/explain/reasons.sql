-- explain_reasons :many  why queue $1, run $2 or task $3 does not go on: one of them is given. What was just seen on the topic of queue $4: a
-- transaction that is open from offset $5 on, since $6 (ms since 1970; NULL: not known); $4 NULL: nothing. BROKER in a
-- command of Kafka's is $7, if that is known
-- columns: reason, sentence, about, since, age_s, helps
SELECT e.reason, e.sentence, e.about, e.since, extract(epoch FROM clock_timestamp() - e.since)::bigint AS age_s,
       replace(e.helps, '--bootstrap-server BROKER ', '--bootstrap-server ' || COALESCE($7::text, 'BROKER') || ' ') AS helps
FROM (SELECT 0 AS no, t.* FROM lockstep.explain_transaction($4::int, $5::bigint, to_timestamp($6::bigint / 1000.0)) AS t WHERE $4::int IS NOT NULL
      UNION ALL
      SELECT x.no, x.reason, x.sentence, x.about, x.since, x.helps
      FROM lockstep.explain($1::int, $2::bigint, $3::bigint) WITH ORDINALITY AS x (reason, sentence, about, since, helps, no)) AS e
ORDER BY e.no;
