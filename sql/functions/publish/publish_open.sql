-- Opens a cursor for a query of the caller's own, with the caller's rights: EXECUTE takes exactly one statement, and
-- only one that returns rows may be opened, so nothing can follow or end the transaction around it.
CREATE OR REPLACE FUNCTION lockstep.publish_open(query text) RETURNS text LANGUAGE plpgsql STRICT AS $$
DECLARE
    staged refcursor := 'lockstep_staged';
BEGIN
    OPEN staged NO SCROLL FOR EXECUTE query;
    RETURN staged::text;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.publish_open(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.publish_open(text) TO lockstep_executor, lockstep_producer, lockstep_operator;
