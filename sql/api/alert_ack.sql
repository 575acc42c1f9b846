-- Acknowledges an incident by its number, or all open ones of a job by its name: it is known, and no reminder is sent.
-- Returns how many.
CREATE OR REPLACE FUNCTION lockstep.alert_ack(what text, reason text) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    own CONSTANT bigint := CASE WHEN alert_ack.what ~ '^[0-9]{1,18}$' THEN alert_ack.what::bigint END;
    alert record;
    acknowledged int;
BEGIN
    IF COALESCE(btrim(alert_ack.reason), '') = '' THEN
        PERFORM lockstep.job_refuse('reason', 'it is missing', 'write who does what about it');
    ELSIF own IS NOT NULL THEN
        SELECT a.closed_at INTO alert FROM lockstep.job_alert a WHERE a.alert_id = own AND a.opened_at IS NOT NULL;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'there is no alert %', own USING ERRCODE = 'LS003', HINT = 'lockstep alert list --all';
        ELSIF alert.closed_at IS NOT NULL THEN
            RAISE EXCEPTION 'alert % is closed since %', own, lockstep.job_time(date_trunc('second', alert.closed_at))
                USING ERRCODE = 'LS002', HINT = format('lockstep alert show %s', own);
        END IF;
    ELSE
        PERFORM lockstep.job_named(alert_ack.what);
    END IF;
    UPDATE lockstep.job_alert a
    SET acknowledged_by = lockstep.actor(), acknowledged_at = clock_timestamp(), note = left(alert_ack.reason, 2000)
    WHERE a.closed_at IS NULL AND a.opened_at IS NOT NULL
      AND (a.alert_id = own OR (own IS NULL AND a.job = alert_ack.what));
    GET DIAGNOSTICS acknowledged = ROW_COUNT;
    IF acknowledged = 0 THEN
        RAISE EXCEPTION 'job % has no open alert', alert_ack.what USING ERRCODE = 'LS002', HINT = 'lockstep alert list';
    END IF;
    RETURN acknowledged;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.alert_ack(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.alert_ack(text, text) TO lockstep_operator;
