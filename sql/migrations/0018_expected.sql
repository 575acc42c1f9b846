-- How long a run of a job may take, and how late a schedule may be, before the monitor names it; NULL: as the runs before took, and by the distance of its times.
ALTER TABLE lockstep.job ADD COLUMN max_expected interval;
ALTER TABLE lockstep.schedule ADD COLUMN grace interval;
GRANT SELECT (grace) ON lockstep.schedule TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
