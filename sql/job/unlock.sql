-- job_unlock :none  the lock of dispatch goes, and others hear of it
SELECT pg_catalog.pg_advisory_unlock(lockstep.lock_class('dispatch'), 0), pg_catalog.pg_notify('lockstep_jobs', 'free');
