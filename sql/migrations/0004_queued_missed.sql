-- The times that passed before the one that waits for the end of a run: its occurrence has them when it is decided.
ALTER TABLE lockstep.schedule ADD COLUMN queued_missed_from timestamptz, ADD COLUMN queued_missed int NOT NULL DEFAULT 0;
GRANT SELECT (queued_missed_from, queued_missed) ON lockstep.schedule TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
