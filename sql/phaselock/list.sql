-- phaselock_list :many  who holds and who waits, see sql/functions/lock_list.sql
SELECT l.kind, l.mode, l.state, l.queue, l.run_id, l."order", l.phase_id, l.slot_no, l.executor_id, l.pid, l.application_name,
       l.host, l.since, l.age, l.blocked_by, l.query
FROM lockstep.lock_list() AS l;
