-- A replay acts on this run: the run does not end before the replay has passed its end, so that later records of the
-- range find it unchanged, and the runs after it wait.
CREATE OR REPLACE FUNCTION lockstep.replay_hold(p_replay_id int, p_run_no bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE lockstep.run SET replay_id = p_replay_id WHERE run_no = p_run_no AND replay_id IS DISTINCT FROM p_replay_id;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.replay_hold(int, bigint) FROM PUBLIC;
