-- May another task take the idempotency key of one of this status? It was not done, as far as is known. Not STRICT: see
-- is_finished.
CREATE OR REPLACE FUNCTION lockstep.frees_key(status lockstep.status) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT status IN ('Failed', 'Cancelled', 'Terminated')
$$;
REVOKE EXECUTE ON FUNCTION lockstep.frees_key(lockstep.status) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.frees_key(lockstep.status) TO lockstep_executor, lockstep_operator, lockstep_monitor;
