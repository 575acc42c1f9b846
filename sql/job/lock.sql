-- job_lock :one  the lock of dispatch, if no session has it
-- columns: granted
SELECT lockstep.dispatch_lock() AS granted;
