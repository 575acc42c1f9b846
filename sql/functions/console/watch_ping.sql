-- lockstep.ping for the console: a program with a token that may report has no group that may call that.
CREATE OR REPLACE FUNCTION lockstep.watch_ping(job text, status text, detail text) RETURNS json
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    IF NOT lockstep.may_ping() THEN
        RAISE EXCEPTION '% may not report to watches', lockstep.actor() USING ERRCODE = 'insufficient_privilege',
            HINT = CASE WHEN current_setting('role') = 'none' THEN format('GRANT lockstep_worker TO %I;', session_user)
                        ELSE 'Use a token that may: lockstep console token create NAME --role ping' END;
    END IF;
    PERFORM lockstep.ping(watch_ping.job, watch_ping.status, watch_ping.detail);
    RETURN json_build_object('job', watch_ping.job, 'status', watch_ping.status,
        'next_at', (SELECT min(s.next_at) FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
                    WHERE j.name = watch_ping.job AND s.is_active));
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.watch_ping(text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.watch_ping(text, text, text) TO lockstep_operator, lockstep_monitor;
