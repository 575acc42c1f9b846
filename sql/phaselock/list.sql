-- phaselock_list :many  the holders of locks and the sessions that wait, see sql/api/lock_list.sql
-- columns: kind, mode, state, queue, run_id, order, phase_id, slot_no, executor_id, pid, application_name, host, since,
--          age, blocked_by, query
SELECT l.kind, l.mode, l.state, l.queue, l.run_id, l."order", l.phase_id, l.slot_no, l.executor_id, l.pid,
       l.application_name, l.host, l.since, l.age, l.blocked_by, l.query
FROM lockstep.lock_list() AS l;
