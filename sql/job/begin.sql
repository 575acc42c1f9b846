-- job_begin :none  whoever has taken the lock of dispatch begins: what was asked before is void
SELECT lockstep.dispatch_begin();
