-- The number of the last run that was made up to a time, 0 if there is none. Found by halving, since numbers and times
-- grow together (except for rows of transactions that ran at the same time).
CREATE OR REPLACE FUNCTION lockstep.run_at(at timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    low bigint := 0; -- up to it
    high bigint := (SELECT pg_catalog.max(r.run_no) + 1 FROM lockstep.run r); -- behind it
    found record;
BEGIN
    WHILE high - low > 1 LOOP
        SELECT r.run_no, r.created_at INTO found
        FROM lockstep.run r WHERE r.run_no > low AND r.run_no <= (low + high) / 2 ORDER BY r.run_no DESC LIMIT 1;
        IF found.run_no IS NULL OR found.created_at <= run_at.at THEN
            low := (low + high) / 2;
        ELSE
            high := found.run_no;
        END IF;
    END LOOP;
    RETURN low;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_at(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.run_at(timestamptz) TO lockstep_operator, lockstep_monitor;
