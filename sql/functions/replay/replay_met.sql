-- Whether a replay has met this run before its session began: it has acted on the run, so the run is marked, or it has
-- passed the first message of the run. A replay of one order passes that message without a look at it.
CREATE OR REPLACE FUNCTION lockstep.replay_met(p_replay_id int, p_run uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM lockstep.run b JOIN lockstep.replay y ON y.queue_id = b.queue_id
        WHERE b.run_id = p_run AND y.replay_id = p_replay_id
          AND (b.replay_id = y.replay_id
               OR (y."order" IS NULL AND b.epoch = y.epoch
                   AND b.first_offset >= y.from_offset AND b.first_offset < y.cursor)))
$$;
REVOKE EXECUTE ON FUNCTION lockstep.replay_met(int, uuid) FROM PUBLIC;
