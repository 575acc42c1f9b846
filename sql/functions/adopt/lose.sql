-- These attempts are lost: their session is gone, or their statement was cancelled. An attempt that did commit is
-- finished and its token is gone, so only the others are changed. A lost attempt is counted apart from failed ones and
-- does not use up max_attempts. An attempt that an operator has cancelled is not lost, it is stopped. A row that
-- another session has locked is skipped: see give_back. p_kind:
--   lost     the task may be the cause: it counts (lost_num), and give_up ends the task after queue.max_lost of them
--   server   the server ended it, for a reason of its own: not counted; the next attempt comes later each time
--   ended    its session was ended or its statement cancelled: as server, up to 20 times for a task, which takes hours;
--            after that each one counts, because the task may end its own session. Those before an operator's retry do
--            not count
--   stopped  its executor ended it, to end itself: not counted
--   doubt    it may not have begun: not counted, it keeps its number; the next attempt is shown before it runs
--            (adopt.sql)
-- lost: those that are changed. counted: of these, those that count.
CREATE OR REPLACE FUNCTION lockstep.lose(
    p_queue_id int, p_task_ids bigint[], p_tokens uuid[], p_why text, p_kind text DEFAULT 'lost',
    OUT lost bigint, OUT counted bigint)
LANGUAGE plpgsql AS $$
DECLARE
    stopped bigint[];
    free bigint[];
BEGIN
    stopped := ARRAY(SELECT t.task_id FROM lockstep.task t JOIN lockstep.run r USING (run_no)
                     JOIN ROWS FROM (pg_catalog.unnest(p_task_ids), pg_catalog.unnest(p_tokens)) AS g (task_id, token)
                          ON t.task_id = g.task_id AND t.token = g.token
                     WHERE t.cancelled_by IS NOT NULL OR r.cancelled_at IS NOT NULL);
    IF stopped <> '{}' THEN -- the queue's row first, as for every change of a run
        PERFORM FROM lockstep.queue WHERE queue_id = p_queue_id FOR NO KEY UPDATE;
        PERFORM lockstep.task_stopped(stopped); -- their tokens are void then
    END IF;
    -- Skipped, not waited for: the session that is gone may be about to commit, another one may keep the row for an
    -- hour.
    free := ARRAY(SELECT t.task_id
                  FROM lockstep.task t
                  WHERE t.task_id = ANY (p_task_ids) ORDER BY t.task_id FOR NO KEY UPDATE SKIP LOCKED);
    WITH hit AS (
        SELECT t.task_id, t.attempt_num, t.executor_no, t.started_at,
               CASE WHEN p_kind IN ('server', 'ended') THEN pg_catalog.clock_timestamp() + interval '1 second'
                                                                * lockstep.put_off(t.task_id, t.lost_num) END AS due,
               p_kind = 'lost' OR (p_kind = 'ended' AND 20 <= (
                   SELECT pg_catalog.count(*) FROM lockstep.task_attempt a
                   WHERE a.task_id = t.task_id AND a.status = 'Pending' AND a.sqlstate = '57000'
                     AND a.attempt > (SELECT lockstep.attempts_done(t.task_id)))) AS counts
        FROM lockstep.task t
        JOIN ROWS FROM (pg_catalog.unnest(p_task_ids), pg_catalog.unnest(p_tokens)) AS g (task_id, token)
             ON t.task_id = g.task_id AND t.token = g.token
        WHERE t.task_id = ANY (free) AND lockstep.is_ownable(t.status)),
    noted AS (
        INSERT INTO lockstep.task_attempt (task_id, attempt, status, executor_no, started_at, ended_at, error, sqlstate)
        SELECT h.task_id, h.attempt_num, 'Pending', h.executor_no, h.started_at, pg_catalog.clock_timestamp(),
               'lost: ' || p_why, CASE p_kind WHEN 'ended' THEN '57000' END -- operator_intervention
        FROM hit h WHERE p_kind <> 'doubt' ON CONFLICT DO NOTHING),
    freed AS (
        UPDATE lockstep.task t
        SET executor_no = NULL, token = NULL, status = 'Pending', attempt_num = t.attempt_num + c.tried,
            lost_num = t.lost_num + CASE WHEN h.counts THEN 1 ELSE 0 END,
            max_attempts = t.max_attempts + c.tried, doubted = CASE p_kind WHEN 'doubt' THEN true ELSE t.doubted END,
            scheduled_for = COALESCE(h.due, t.scheduled_for), updated_at = pg_catalog.clock_timestamp()
        FROM (SELECT CASE p_kind WHEN 'doubt' THEN 0 ELSE 1 END AS tried) AS c, hit h WHERE t.task_id = h.task_id
        RETURNING h.counts)
    SELECT pg_catalog.count(*), pg_catalog.count(*) FILTER (WHERE f.counts) INTO lost, counted FROM freed f;
    PERFORM pg_catalog.pg_notify('lockstep_' || p_queue_id, 'work');
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.lose(int, bigint[], uuid[], text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.lose(int, bigint[], uuid[], text, text) TO lockstep_executor;
