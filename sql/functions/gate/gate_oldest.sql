-- The oldest phase of a run, up to p_order, that is neither open nor done. waits_for: the last phase before it that is
-- not done (a reopened phase may lie behind others that stay done), else the phase right before it. No row: there is no
-- such phase. By phase_left, the index of the phases that are not done, because a run may have thousands of phases that
-- are. The planner inlines it. See gate.
CREATE OR REPLACE FUNCTION lockstep.gate_oldest(p_run_no bigint, p_order bigint)
RETURNS TABLE (phase_id bigint, "order" bigint, previous_phase_id bigint, opened_at timestamptz, done_at timestamptz,
               queue_id int, run_no bigint, after_runs boolean, conditional boolean, waits_for bigint)
LANGUAGE sql STABLE AS $$
    SELECT o.phase_id, o."order", o.previous_phase_id, o.opened_at, o.done_at, o.queue_id, o.run_no, o.after_runs,
           o.conditional,
           COALESCE((
                      SELECT b.phase_id FROM lockstep.phase b
                      WHERE b.run_no + 0 = p_run_no AND b."order" + 0 < o."order" AND b.done_at IS NULL
                      ORDER BY b."order" + 0 DESC LIMIT 1), o.previous_phase_id)
    FROM (SELECT p.phase_id, p."order", p.previous_phase_id, p.opened_at, p.done_at, p.queue_id, p.run_no, p.after_runs,
                 p.conditional
          FROM lockstep.phase p
          WHERE p.run_no + 0 = p_run_no AND p."order" + 0 <= p_order AND p.opened_at IS NULL AND p.done_at IS NULL
          ORDER BY p."order" + 0 LIMIT 1) AS o
$$;
REVOKE EXECUTE ON FUNCTION lockstep.gate_oldest(bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.gate_oldest(bigint, bigint) TO lockstep_executor;
