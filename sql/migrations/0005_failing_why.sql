-- Why SQL of users for a firing came back without a fault of the job, as the log has it: it is logged once until it changes.
ALTER TABLE lockstep.schedule ADD COLUMN failing_why text;
GRANT SELECT (failing_why) ON lockstep.schedule TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
