-- Is a task of this status unfinished, and no attempt of it running? Not STRICT: see is_finished.
CREATE OR REPLACE FUNCTION lockstep.is_unstarted(status lockstep.status) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT status IN ('Pending', 'Error', 'Paused')
$$;
REVOKE EXECUTE ON FUNCTION lockstep.is_unstarted(lockstep.status) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.is_unstarted(lockstep.status) TO lockstep_executor, lockstep_operator;
