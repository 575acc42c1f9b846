-- task show and the execution log are for those who look, too.
GRANT SELECT (rows, notices) ON lockstep.task TO lockstep_producer, lockstep_operator, lockstep_monitor;
