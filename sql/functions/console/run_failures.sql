-- How many tasks of each phase of a run have failed since it was reopened last, from the newest 1,000 lines of its log
-- of events: for runs that are too large to be counted. phase_id is NULL for a line that names no phase.
CREATE OR REPLACE FUNCTION lockstep.run_failures(p_run_no bigint) RETURNS TABLE (phase_id bigint, failed bigint)
LANGUAGE sql STABLE AS $$
    SELECT l.phase_id, pg_catalog.count(*)
    FROM (SELECT e.event, e.event_id, e.phase_id,
                 COALESCE(pg_catalog.max(e.event_id) FILTER (WHERE e.event IN ('run_reopened', 'tasks_reopened'))
                          OVER (), 0) AS reopened
          FROM (SELECT b.event, b.event_id, b.phase_id
                FROM lockstep.event_log b
                -- a comparison of rows: the planner expects many, and reads the newest by event_log_run
                WHERE (b.run_no, b.event_id) >= (p_run_no, 0)
                  AND (b.run_no, b.event_id) <= (p_run_no, 9223372036854775807)
                ORDER BY b.run_no DESC, b.event_id DESC LIMIT 1000) e) l
    WHERE l.event IN ('task_failed', 'task_terminated') AND l.event_id > l.reopened GROUP BY l.phase_id
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_failures(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.run_failures(bigint) TO lockstep_operator, lockstep_monitor;
