-- Acknowledges an incident by its number, or all open ones of a job by its name: it is known, and no reminder is sent.
-- Returns how many. The name of a job may be a number, too: #42 is the alert of this number and no job. 42 is the alert
-- or the job, whichever is open or has open ones; if that holds for both, 42 is refused (LS002).
CREATE OR REPLACE FUNCTION lockstep.alert_ack(what text, reason text) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    own CONSTANT bigint := CASE WHEN alert_ack.what ~ '^#?[0-9]{1,18}$' THEN ltrim(alert_ack.what, '#')::bigint END;
    of_job CONSTANT boolean := EXISTS (SELECT FROM lockstep.job_alert a
                                       WHERE a.job = alert_ack.what AND a.alert_id IS DISTINCT FROM own
                                         AND a.opened_at IS NOT NULL AND a.closed_at IS NULL);
    is_open boolean;
    alert record;
    acknowledged int;
BEGIN
    SELECT a.alert_id, a.closed_at INTO alert FROM lockstep.job_alert a
    WHERE a.alert_id = own AND a.opened_at IS NOT NULL;
    is_open := FOUND AND alert.closed_at IS NULL;
    IF COALESCE(btrim(alert_ack.reason), '') = '' THEN
        PERFORM lockstep.job_refuse('reason', 'it is missing', 'write who does what about it');
    ELSIF own IS NULL THEN
        PERFORM lockstep.job_named(alert_ack.what);
    ELSIF is_open AND of_job THEN
        RAISE EXCEPTION '% is the number of an open alert, and the name of a job that has others', own
            USING ERRCODE = 'LS002',
                  HINT = format('The alert alone is #%s; the others have numbers, too: lockstep alert list', own);
    ELSIF alert.closed_at IS NOT NULL AND NOT of_job THEN
        RAISE EXCEPTION 'alert % is closed since %', own, lockstep.job_time(date_trunc('second', alert.closed_at))
            USING ERRCODE = 'LS002', HINT = format('lockstep alert show %s', own);
    ELSIF alert.alert_id IS NULL AND NOT of_job
          AND NOT EXISTS (SELECT FROM lockstep.job j WHERE j.name = alert_ack.what) THEN
        RAISE EXCEPTION 'there is no alert %', own USING ERRCODE = 'LS003', HINT = 'lockstep alert list --all';
    END IF;
    UPDATE lockstep.job_alert a
    SET acknowledged_by = lockstep.actor(), acknowledged_at = clock_timestamp(), note = left(alert_ack.reason, 2000)
    WHERE a.closed_at IS NULL AND a.opened_at IS NOT NULL
      AND CASE WHEN is_open THEN a.alert_id = own ELSE a.job = alert_ack.what END;
    GET DIAGNOSTICS acknowledged = ROW_COUNT;
    IF acknowledged = 0 THEN
        RAISE EXCEPTION 'job % has no open alert', alert_ack.what USING ERRCODE = 'LS002', HINT = 'lockstep alert list';
    END IF;
    RETURN acknowledged;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.alert_ack(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.alert_ack(text, text) TO lockstep_operator;
