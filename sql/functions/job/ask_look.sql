-- One look at a trigger, with the caller's rights and search_path: so every name and operator is qualified. A statement
-- of its own in a read-only transaction.
CREATE OR REPLACE FUNCTION lockstep.ask_look(
    p_look text, OUT rows bigint, OUT oldest timestamptz, OUT newest timestamptz)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE p_look INTO rows, oldest, newest;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.ask_look(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.ask_look(text) TO lockstep_task;
