-- Withdraws the firings of a job that wait for a dispatcher (lockstep.job_requests): how many. One whose SQL runs fires
-- no more: its transaction is undone.
CREATE OR REPLACE FUNCTION lockstep.job_withdraw(job text) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own CONSTANT lockstep.job := lockstep.job_named(job_withdraw.job, NULL, true);
    withdrawn int;
BEGIN
    DELETE FROM lockstep.job_ask a WHERE a.job_id = own.job_id AND a.wake_at IS NOT NULL;
    GET DIAGNOSTICS withdrawn = ROW_COUNT;
    IF withdrawn > 0 THEN
        PERFORM lockstep.job_note(own.name, 'changed', lockstep.actor(),
                                  'withdrawn: ' || lockstep.counted(withdrawn, 'firing')
                                      || ' that waited for a dispatcher');
    END IF;
    RETURN withdrawn;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_withdraw(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_withdraw(text) TO lockstep_operator;
