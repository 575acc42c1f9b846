-- Messages that could not become tasks. Promised to users: a column keeps its name and meaning; new ones go to the end.
-- redrive_noted: a redrive that is under way, or whose producer ended before its outcome was known.
CREATE OR REPLACE VIEW lockstep.rejected AS
SELECT q.name AS queue, m.kafka_offset AS "offset", m.reason, m.detail, m.raw, m.rejected_at, m.rejected_id, r.run_id,
       m.seq, m.key, m.header_names, m.header_values, m.dead_lettered_at,
       COALESCE(n.run_id, m.redrive_run) AS redrive_run, COALESCE(n.created_at, m.redriven_at) AS redriven_at,
       CASE WHEN n.run_id IS NOT NULL THEN m.redrive_noted_by ELSE m.redriven_by END AS redriven_by,
       CASE WHEN n.run_id IS NULL THEN m.redrive_noted END AS redrive_noted
FROM lockstep.rejected_message m
JOIN lockstep.queue q USING (queue_id)
LEFT JOIN lockstep.run r USING (run_no)
LEFT JOIN lockstep.run n -- not settled, and on the topic
       ON n.queue_id = m.queue_id AND n.run_id = m.redrive_noted
      AND lockstep.redrive_made(m.queue_id, m.redrive_noted);
GRANT SELECT ON lockstep.rejected TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
