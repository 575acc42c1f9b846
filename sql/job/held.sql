-- job_held :many  sessions that hold the lock of dispatch and are no dispatcher
-- columns: pid, is
SELECT h.pid, h.is FROM lockstep.dispatch_held() AS h;
