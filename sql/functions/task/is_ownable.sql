-- May a task of this status be an executor's, waiting or running? Every unfinished one, but one that is paused. Not
-- STRICT: see is_finished.
CREATE OR REPLACE FUNCTION lockstep.is_ownable(status lockstep.status) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT status IN ('Pending', 'Processing', 'Error')
$$;
REVOKE EXECUTE ON FUNCTION lockstep.is_ownable(lockstep.status) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.is_ownable(lockstep.status) TO lockstep_executor, lockstep_operator;
