-- The id of the run of a scheduled time: always the same, so a database that was set back makes no second run of
-- messages that are on the topic already. A UUID of version 8 (RFC 9562): with SHA-256, which the server has, instead
-- of the SHA-1 of version 5, which it has not.
CREATE OR REPLACE FUNCTION lockstep.job_run_id(p_schedule uuid, p_for timestamptz) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    digits CONSTANT text := pg_catalog.encode(
        pg_catalog.sha256(pg_catalog.uuid_send(p_schedule) || pg_catalog.timestamptz_send(p_for)), 'hex');
BEGIN
    RETURN pg_catalog.substr(digits, 1, 12) || '8' || pg_catalog.substr(digits, 14, 3) || 'a'
           || pg_catalog.substr(digits, 18, 15);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_run_id(uuid, timestamptz) FROM PUBLIC;
