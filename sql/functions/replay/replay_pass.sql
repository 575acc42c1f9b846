-- The runs whose end the replay's cursor has passed, or all (p_all), are released: they end when all of their tasks are
-- finished. This may be so already, so their end is tried here.
CREATE OR REPLACE FUNCTION lockstep.replay_pass(p_replay_id int, p_all boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    passed bigint;
BEGIN
    FOR passed IN SELECT r.run_no FROM lockstep.run r JOIN lockstep.replay y USING (replay_id)
                  WHERE r.replay_id = p_replay_id AND (p_all OR r.end_offset < y.cursor) ORDER BY r.first_offset LOOP
        PERFORM FROM lockstep.queue
        WHERE queue_id = (SELECT queue_id FROM lockstep.run WHERE run_no = passed) FOR NO KEY UPDATE;
        UPDATE lockstep.run SET replay_id = NULL WHERE run_no = passed;
        PERFORM lockstep.run_finish(passed);
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.replay_pass(int, boolean) FROM PUBLIC;
