-- How many runs of each queue have ended, and how: what the metrics count, whatever retention deletes. Written by lockstep.run_finish.
CREATE TABLE lockstep.run_count (
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    status text NOT NULL,
    runs bigint NOT NULL,
    PRIMARY KEY (queue_id, status)
) WITH (fillfactor = 10);
INSERT INTO lockstep.run_count (queue_id, status, runs)
SELECT r.queue_id, r.status, count(*) FROM lockstep.run r WHERE r.ended_at IS NOT NULL GROUP BY r.queue_id, r.status;
GRANT SELECT, INSERT, UPDATE ON lockstep.run_count TO lockstep_executor;
GRANT SELECT ON lockstep.run_count TO lockstep_producer, lockstep_operator, lockstep_monitor;
