-- The monitors (monitor run), and whether they still look. Promised to users: a column keeps its name and
-- meaning; new ones go to the end.
CREATE OR REPLACE VIEW lockstep.monitor_status AS
SELECT p.who AS monitor, p.login, p.started_at, p.looked_at, p.every, p.ended_at,
       lockstep.monitor_lives(p.looked_at, p.every, p.ended_at) AS is_alive,
       ARRAY(SELECT r.receiver FROM lockstep.monitor_receiver r WHERE r.who = p.who ORDER BY r.receiver) AS receivers
FROM lockstep.monitor_process p;
GRANT SELECT ON lockstep.monitor_status TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
