-- Retention, one batch of it: at most p_rows tasks of the oldest run that no setting keeps any more are deleted
-- (sweep_tasks) and counted into the run's summary; after the last of them its events, rejected messages and phases
-- (sweep_end). The run's own row stays. The function waits for no lock: a row that another session has locked is left
-- for the next batch. The run's row is locked and marked. A session that would reopen the run (reopen and task_held
-- lock it, too) is either first, and then the run is skipped, or finds it swept.
--   p_after   the run before this one in the same sweep (at): the runs up to it were checked
--   deleted   rows
--   more      there may be more to delete
--   ended     a run whose last rows these were
--   held      a run that could not be deleted, and why, when this is new: its row in run_summary says when it is tried
--             again
CREATE OR REPLACE FUNCTION lockstep.sweep(p_queue_id int, p_rows int, p_after bigint,
    OUT deleted bigint, OUT more boolean, OUT at bigint, OUT ended uuid, OUT held text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    no CONSTANT bigint := lockstep.sweep_next(p_queue_id, p_after);
    run_row record;
    batch record;
    code text;
    known text; -- the transaction that held it before
BEGIN
    deleted := 0;
    at := p_after;
    more := no IS NOT NULL;
    -- A statement of its own: it must see the changes that were committed before this session had the row.
    SELECT b.run_id, b.swept,
           b.ended_at IS NOT NULL AND b.replay_id IS NULL AND (b.swept OR NOT lockstep.sweep_waits(no)) AS due
    INTO run_row FROM lockstep.run b WHERE b.run_no = no;
    IF no IS NOT NULL AND NOT run_row.swept THEN
        at := no;
    END IF;
    IF no IS NULL OR NOT run_row.due THEN
        RETURN;
    END IF;
    known := (SELECT s.held FROM lockstep.run_summary s WHERE s.run_no = no);
    BEGIN
        INSERT INTO lockstep.run_summary AS s (run_no, begun_at)
        VALUES (no, pg_catalog.clock_timestamp())
        ON CONFLICT (run_no) DO UPDATE SET
            begun_at = COALESCE(s.begun_at, EXCLUDED.begun_at), held = NULL, look_at = NULL;
        UPDATE lockstep.run SET swept = true WHERE run_no = no AND NOT swept;
        SELECT t.deleted, t.locked INTO STRICT batch FROM lockstep.sweep_tasks(no, p_rows) AS t;
        deleted := batch.deleted;
        IF batch.locked THEN -- from the beginning, then
            UPDATE lockstep.run_summary
            SET upto_order = NULL, upto_offset = NULL, held = 'its tasks are locked by another session',
                look_at = pg_catalog.clock_timestamp() + interval '1 min'
            WHERE run_no = no;
        ELSIF deleted < p_rows THEN
            deleted := deleted + lockstep.sweep_end(no, p_rows);
            ended := (SELECT run_row.run_id FROM lockstep.run_summary s WHERE s.run_no = no AND s.swept_at IS NOT NULL);
        END IF;
    -- Another table refers to a task, or has a trigger that does not like it; or the deletion takes longer than
    -- statement_timeout (sql/sweep/begin.sql), and fewer rows are impossible.
    EXCEPTION WHEN QUERY_CANCELED OR OTHERS THEN
        GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE;
        IF pg_catalog.left(code, 2) IN ('08', '25', '40', '42', '53', '57', '58', 'XX')
           AND NOT (code = '57014' AND p_rows = 1) THEN
            RAISE; -- not this run's
        END IF;
        deleted := 0;
        held := SQLERRM;
    END;
    IF held IS NOT NULL THEN -- the next run is tried meanwhile
        INSERT INTO lockstep.run_summary AS s (run_no, held, look_at)
        VALUES (no, held,
                pg_catalog.clock_timestamp() + CASE code WHEN '55P03' THEN interval '1 min' ELSE interval '1 hour' END)
        ON CONFLICT (run_no) DO UPDATE SET held = EXCLUDED.held, look_at = EXCLUDED.look_at;
        held := CASE WHEN code <> '55P03' AND held IS DISTINCT FROM known
                         THEN pg_catalog.format('run %s: %s', run_row.run_id, held) END;
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.sweep(int, int, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.sweep(int, int, bigint) TO lockstep_executor;
