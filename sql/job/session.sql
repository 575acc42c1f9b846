-- job_session :none  notes the dispatcher's session for whoever has to end what is left of executor $1: pid, backend
-- start
INSERT INTO lockstep.executor_session (executor_no, pid, backend_start, kind)
VALUES ($1::int, $2::int, $3::timestamptz, 'dispatcher')
ON CONFLICT DO NOTHING;
