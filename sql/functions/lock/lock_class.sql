-- The first of the two integers of every advisory lock of ours. Task SQL that takes advisory locks of its own mostly
-- uses the key space of one bigint, which is a different one, so the two do not meet.
-- No other place has the numbers, but for the migrators' (tests/unit/lock_classes.sh). An unknown word is an error: the
-- lock functions are strict, and a NULL key would silently lock nothing.
CREATE OR REPLACE FUNCTION lockstep.lock_class(what text) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    CASE what
        WHEN 'phase' THEN RETURN 1280507905;    -- second integer: lockstep.phase_key(phase_id, 0 or 1)
        WHEN 'slot' THEN RETURN 1280507906;     -- slot_id
        WHEN 'executor' THEN RETURN 1280507907; -- executor_no
        WHEN 'producer' THEN RETURN 1280507908; -- queue_id
        -- 1; also in sql/migrate/{lock,unlock}.sql and sql/session/waits.sql, which run before there is this function
        WHEN 'migrator' THEN RETURN 1280507909;
        WHEN 'relay' THEN RETURN 1280507910;    -- queue_id
        WHEN 'replay' THEN RETURN 1280507911;   -- queue_id
        WHEN 'sweep' THEN RETURN 1280507912;    -- queue_id
        WHEN 'dispatch' THEN RETURN 1280507913; -- 0; 1: a change of the order of jobs
    END CASE; -- anything else: case_not_found
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.lock_class(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.lock_class(text)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
