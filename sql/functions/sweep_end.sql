-- A run whose tasks are deleted: its events, and when few enough were left, its phases. At most p_rows at a time. How many.
CREATE OR REPLACE FUNCTION lockstep.sweep_end(p_run_no bigint, p_rows int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    events bigint;
    phases bigint := 0;
BEGIN
    DELETE FROM lockstep.event_log l WHERE l.event_id = ANY (ARRAY(
        SELECT o.event_id FROM lockstep.event_log o WHERE o.run_no = p_run_no ORDER BY o.event_id LIMIT p_rows));
    GET DIAGNOSTICS events = ROW_COUNT;
    IF events < p_rows THEN
        DELETE FROM lockstep.phase p WHERE p.phase_id = ANY (ARRAY(
            SELECT o.phase_id FROM lockstep.phase o WHERE o.run_no = p_run_no ORDER BY o."order" LIMIT p_rows));
        GET DIAGNOSTICS phases = ROW_COUNT;
        IF phases < p_rows THEN
            UPDATE lockstep.run_summary SET swept_at = pg_catalog.clock_timestamp() WHERE run_no = p_run_no;
        END IF;
    END IF;
    RETURN events + phases;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.sweep_end(bigint, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.sweep_end(bigint, int) TO lockstep_executor;
