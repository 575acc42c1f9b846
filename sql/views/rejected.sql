-- Messages that could not become tasks. Promised to users: a column keeps its name and meaning; new ones go to the end.
CREATE OR REPLACE VIEW lockstep.rejected AS
SELECT q.name AS queue, m.kafka_offset AS "offset", m.reason, m.detail, m.raw, m.rejected_at, m.rejected_id, r.run_id,
       m.seq, m.key, m.header_names, m.header_values, m.dead_lettered_at, m.redrive_run, m.redriven_at, m.redriven_by
FROM lockstep.rejected_message m
JOIN lockstep.queue q USING (queue_id)
LEFT JOIN lockstep.run r USING (run_no);
GRANT SELECT ON lockstep.rejected TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
