-- The number of the last event up to a time, 0 if there is none. Found by halving, since numbers and times grow
-- together (except for events of transactions that ran at the same time).
CREATE OR REPLACE FUNCTION lockstep.event_at(at timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    low bigint := 0; -- up to it
    high bigint := (SELECT pg_catalog.max(l.event_id) + 1 FROM lockstep.event_log l); -- behind it
    found record;
BEGIN
    WHILE high - low > 1 LOOP
        SELECT l.event_id, l.at INTO found
        FROM lockstep.event_log l
        WHERE l.event_id > low AND l.event_id <= (low + high) / 2 ORDER BY l.event_id DESC LIMIT 1;
        IF found.event_id IS NULL THEN
            low := (low + high) / 2;
        ELSIF found.at <= event_at.at THEN
            low := (low + high) / 2;
        ELSE
            high := found.event_id;
        END IF;
    END LOOP;
    RETURN low;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.event_at(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.event_at(timestamptz) TO lockstep_operator, lockstep_monitor;
