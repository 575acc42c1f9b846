-- How often tasks have changed what the database defines, as of now: VOLATILE, so it does not look with the snapshot of
-- its caller, which may have waited for long.
CREATE OR REPLACE FUNCTION lockstep.definitions_changes() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN (SELECT d.changes FROM lockstep.definitions d);
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.definitions_changes TO lockstep_executor;
