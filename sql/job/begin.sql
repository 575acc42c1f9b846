-- job_begin :none  the session that has acquired the lock of dispatch begins: the requests of the dispatcher before it
-- are void
SELECT lockstep.dispatch_begin();
