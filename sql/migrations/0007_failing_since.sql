-- A trigger that fails again and again, in its look or in its firing: since when.
ALTER TABLE lockstep.schedule ADD COLUMN failing_since timestamptz; -- the first look or firing of those in a row that failed; NULL: the last one did not
UPDATE lockstep.schedule s SET failing_since = (s.look).at WHERE (s.look).failures > 0;
GRANT SELECT (failing_since) ON lockstep.schedule TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
