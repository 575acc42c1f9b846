-- There is nothing to adopt: when to ask again (wait_ms; NULL: when notified), and which closed phase the caller is to
-- open. p_due: when the first task is due, in the past if another session holds its row; p_offer: a closed phase with
-- nothing left to do, its run and order. See adopt.
CREATE OR REPLACE FUNCTION lockstep.adopt_none(
    p_queue_id int, p_enough bigint[], p_living int[], p_due timestamptz, p_offer bigint[], OUT wait_ms int,
    OUT phase_id bigint, OUT run_no bigint, OUT "order" bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    due timestamptz := p_due;
BEGIN
    IF EXISTS (SELECT FROM lockstep.phase p
               WHERE p.queue_id = p_queue_id AND p.done_at IS NULL AND (p.external OR p.conditional)) THEN
        -- The next look at the leases: none runs out before that, also if it is given out in this moment.
        SELECT LEAST(due,
                     pg_catalog.min(GREATEST(t.lease_until, pg_catalog.clock_timestamp() + interval '200 ms')) FILTER (
                         WHERE t.lease_until IS NOT NULL),
                     CASE WHEN pg_catalog.count(p.phase_id) > 0
                              THEN pg_catalog.clock_timestamp() + q.external_lease END)
        INTO due
        FROM lockstep.queue q
        LEFT JOIN lockstep.phase p ON p.queue_id = q.queue_id AND p.done_at IS NULL AND p.external
             AND p.opened_at IS NOT NULL
        -- by task_leased
        LEFT JOIN lockstep.task t ON t.phase_id + 0 = p.phase_id AND t.lease_until IS NOT NULL AND t.type = 'external'
             AND t.status = 'Processing'
        WHERE q.queue_id = p_queue_id GROUP BY q.external_lease;
        SELECT p.phase_id, p.run_no, p."order" INTO phase_id, run_no, "order"
        FROM lockstep.phase p JOIN lockstep.run r USING (run_no)
        WHERE p.queue_id = p_queue_id AND p.done_at IS NULL AND (p.external OR p.conditional) AND p.opened_at IS NULL
          AND r.paused_by IS NULL AND r.status <> 'Paused' AND r.cancelled_at IS NULL
          AND p.phase_id = (SELECT f.phase_id
                            FROM lockstep.phase f
                            WHERE f.queue_id = p_queue_id AND f.run_no = r.run_no AND f.done_at IS NULL
                              AND f.opened_at IS NULL AND (f.external OR f.conditional)
                            ORDER BY f."order" LIMIT 1)
          AND NOT p.phase_id = ANY (p_enough)
        ORDER BY p.run_no, p."order" LIMIT 1;
    END IF;
    IF phase_id IS NULL AND p_offer IS NOT NULL THEN
        phase_id := p_offer[1];
        run_no := p_offer[2];
        "order" := p_offer[3];
    END IF;
    wait_ms := CASE WHEN due <= pg_catalog.statement_timestamp() THEN 200 -- not one that falls due in this call
                    WHEN due IS NOT NULL -- LEAST and GREATEST pass NULL over
                        THEN LEAST(GREATEST(EXTRACT(epoch FROM due - pg_catalog.clock_timestamp()) * 1000 + 1, 1),
                                   3600000) END;
    -- A worker was taking a task of a run at the moment of its cancellation: no notification says when it has
    -- committed.
    IF EXISTS (SELECT FROM lockstep.phase p JOIN lockstep.run r USING (run_no)
               WHERE p.queue_id = p_queue_id AND p.done_at IS NULL AND p.external AND r.cancelled_at IS NOT NULL) THEN
        wait_ms := LEAST(wait_ms, 500);
    END IF;
    -- The sessions of a dead executor, which were asked to end, still exist: no notification says when they are gone,
    -- so the caller comes again.
    IF EXISTS (SELECT FROM lockstep.executor e WHERE e.executor_no = ANY (p_living) AND e.ended_at IS NOT NULL)
       AND EXISTS (
           SELECT FROM lockstep.executor e
           JOIN lockstep.task t ON t.executor_no = e.executor_no AND lockstep.is_ownable(t.status)
           JOIN lockstep.phase p ON p.phase_id = t.phase_id AND p.done_at IS NULL
           WHERE p.queue_id = p_queue_id AND e.executor_no = ANY (p_living) AND e.ended_at IS NOT NULL) THEN
        wait_ms := LEAST(wait_ms, 20);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.adopt_none(int, bigint[], int[], timestamptz, bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.adopt_none(int, bigint[], int[], timestamptz, bigint[]) TO lockstep_executor;
