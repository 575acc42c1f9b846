-- explain_reasons :many  why queue $1, run $2 or task $3 does not continue: one of them is given. The caller's last
-- look at the topic of queue $4 found a transaction that is open from offset $5 on (NULL: none), since $6 (ms since
-- 1970; NULL: not known), and a log that ends at offset $8; $4 NULL: it did not look. It looked after $9: asked_at of
-- this statement, when it asked before the look. BROKER in a command of Kafka's is $7, if that is known
-- columns: reason, sentence, about, since, age_s, helps, waits_for_topic, asked_at
WITH gone AS MATERIALIZED (
    SELECT g.*
    FROM lockstep.explain_gone(p_queue_id => $4::int, p_run_no => $2::bigint, p_log_end => $8::bigint,
                               p_asked_at => $9::timestamptz) AS g
    WHERE $4::int IS NOT NULL)
SELECT e.reason, e.sentence, e.about, e.since, extract(epoch FROM clock_timestamp() - e.since)::bigint AS age_s,
       replace(e.helps, '--bootstrap-server BROKER ',
               '--bootstrap-server ' || COALESCE($7::text, 'BROKER') || ' ') AS helps,
       -- the cause may be on the topic: no reason so far explains why its messages are not claimed
       bool_or(e.reason IN ('run_unclaimed', 'run_publishing', 'run_end_unclaimed', 'run_end_missing',
                            'queue_idle')) OVER ()
           AND NOT bool_or(e.reason IN ('blocked_by_transaction', 'executor_cut_off', 'topic_unreadable')) OVER ()
           AS waits_for_topic,
       now() AS asked_at
FROM (SELECT 0 AS no, t.*
      FROM lockstep.explain_transaction($4::int, $5::bigint, to_timestamp($6::bigint / 1000.0)) AS t
      WHERE $5::bigint IS NOT NULL
      UNION ALL
      -- for a queue, behind the reasons that stop all of it
      SELECT CASE WHEN $2::bigint IS NULL THEN 1000 ELSE 0 END, g.* FROM gone AS g
      UNION ALL
      SELECT x.no, x.reason, x.sentence, x.about, x.since,
             lockstep.explain_helps(x.helps, $5::bigint IS NOT NULL OR EXISTS (SELECT FROM gone AS g))
      FROM lockstep.explain($1::int, $2::bigint, $3::bigint) WITH ORDINALITY
          AS x (reason, sentence, about, since, helps, no)
      WHERE x.reason NOT IN ('run_unclaimed', 'run_end_unclaimed')
         OR x.about NOT IN (SELECT g.about FROM gone AS g)) AS e
ORDER BY e.no;
