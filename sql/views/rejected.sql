-- Messages that could not become tasks. Promised to users: a column keeps its name and meaning; new ones go to the end.
-- redrive_noted: a redrive that is under way, or whose producer ended before its outcome was known.
CREATE OR REPLACE VIEW lockstep.rejected AS
SELECT q.name AS queue, m.kafka_offset AS "offset", m.reason, m.detail, m.raw, m.rejected_at, m.rejected_id, r.run_id,
       m.seq, m.key, m.header_names, m.header_values, m.dead_lettered_at,
       CASE WHEN n.made THEN m.redrive_noted ELSE m.redrive_run END AS redrive_run,
       CASE WHEN n.made THEN n.at ELSE m.redriven_at END AS redriven_at,
       CASE WHEN n.made THEN m.redrive_noted_by ELSE m.redriven_by END AS redriven_by,
       CASE WHEN NOT n.made THEN m.redrive_noted END AS redrive_noted
FROM lockstep.rejected_message m
JOIN lockstep.queue q USING (queue_id)
LEFT JOIN lockstep.run r USING (run_no)
LEFT JOIN LATERAL ( -- not settled, and on the topic
    SELECT lockstep.redrive_made(m.queue_id, m.redrive_noted) AS made,
           (SELECT b.created_at
            FROM lockstep.run b WHERE b.queue_id = m.queue_id AND b.run_id = m.redrive_noted) AS at
    WHERE m.redrive_noted IS NOT NULL) n ON true;
GRANT SELECT ON lockstep.rejected TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
