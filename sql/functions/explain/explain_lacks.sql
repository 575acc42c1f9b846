-- The remedy where the server lacks disk space, as the SQLSTATE before the message of an executor's error says, else
-- NULL. See explain.
CREATE OR REPLACE FUNCTION lockstep.explain_lacks(p_error text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_error ~ '(^|: )53100: '
                THEN 'Free disk space on the database server; the executor tries again by itself' END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_lacks(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_lacks(text)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
