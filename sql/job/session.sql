-- job_session :none  notes the dispatcher's session for the executor that ends the sessions of executor $1 after its
-- death: pid, backend start
INSERT INTO lockstep.executor_session (executor_no, pid, backend_start, kind)
VALUES ($1::int, $2::int, $3::timestamptz, 'dispatcher')
ON CONFLICT DO NOTHING;
