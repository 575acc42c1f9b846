-- The attempts in a part of a run's time, from p_from_s to p_to_s after its start, as bars like those of
-- lockstep.run_gantt, for a run of which lockstep.run_sketch draws densities: of each phase that was open then and of
-- which few enough tasks ran. Of more than 100 such phases there is none. Tasks begin about in their order, so a sample
-- of each phase shows between which offsets the tasks of that time are; a task that ran for much longer than its
-- neighbours may be missing.
CREATE OR REPLACE FUNCTION lockstep.run_bars(p_run_no bigint, p_from_s float8, p_to_s float8) RETURNS json
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET jit = off AS $$
BEGIN
RETURN ( -- PL/pgSQL keeps its plan; SQL, before PostgreSQL 18, is planned at each call
WITH run AS MATERIALIZED (
    SELECT r.run_no, COALESCE(r.started_at, r.created_at) AS t0, pg_catalog.clock_timestamp() AS now
    FROM lockstep.run r WHERE r.run_no = p_run_no),
phase AS MATERIALIZED (
    SELECT p.phase_id, p."order", pg_catalog.date_part('epoch', p.opened_at - r.t0) AS opened_s, r.t0, r.now
    FROM run r JOIN lockstep.phase p USING (run_no)
    WHERE p.opened_at <= r.t0 + pg_catalog.make_interval(secs => p_to_s)
      AND COALESCE(p.done_at, r.now) >= r.t0 + pg_catalog.make_interval(secs => p_from_s)
    ORDER BY p."order" LIMIT 101),
bound AS MATERIALIZED (
    SELECT p.*, 2400 / p.phases AS samples, 6000 / p.phases AS most, f.kafka_offset AS first_offset,
           l.kafka_offset AS last_offset
    FROM (SELECT b.*, pg_catalog.count(*) OVER () AS phases FROM phase b) p
    CROSS JOIN LATERAL (SELECT k.kafka_offset
                        FROM lockstep.task k WHERE k.phase_id = p.phase_id ORDER BY k.kafka_offset LIMIT 1) f
    CROSS JOIN LATERAL (SELECT k.kafka_offset
                        FROM lockstep.task k WHERE k.phase_id = p.phase_id ORDER BY k.kafka_offset DESC LIMIT 1) l
    WHERE p.phases <= 100),
place AS MATERIALIZED ( -- before low all had ended, after high none had begun
    SELECT b.phase_id, COALESCE(s.low, b.first_offset) AS low, COALESCE(s.high, b.last_offset) AS high
    FROM bound b
    CROSS JOIN LATERAL (
        SELECT pg_catalog.max(o.kafka_offset) FILTER (WHERE o.ended_s < p_from_s) AS low,
               pg_catalog.min(o.kafka_offset) FILTER (WHERE o.begins_s > p_to_s) AS high
        FROM (SELECT x.kafka_offset, pg_catalog.max(x.end_s) OVER (ORDER BY x.kafka_offset) AS ended_s,
                     pg_catalog.min(x.start_s) OVER (ORDER BY x.kafka_offset DESC) AS begins_s
              FROM pg_catalog.generate_series(0, b.samples - 1) AS i (n)
              CROSS JOIN LATERAL (
                  SELECT k.kafka_offset,
                         COALESCE(pg_catalog.date_part('epoch', k.started_at - b.t0), 'Infinity') AS start_s,
                         COALESCE(pg_catalog.date_part('epoch', k.started_at + k.duration - b.t0), 'Infinity') AS end_s
                  FROM lockstep.task k
                  WHERE k.phase_id = b.phase_id
                    AND k.kafka_offset >= b.first_offset + (b.last_offset - b.first_offset + 1) * i.n / b.samples
                  ORDER BY k.kafka_offset LIMIT 1) x) o) s),
task AS MATERIALIZED (
    SELECT b.phase_id, b.opened_s, b.most, b.t0, t.task_id, t.kafka_offset, t.name, t.status, t.attempt_num,
           pg_catalog.date_part('epoch', t.started_at - b.t0) AS start_s,
           CASE WHEN t.status = 'Completed' THEN pg_catalog.date_part('epoch', t.started_at + t.duration - b.t0)
                WHEN t.status = 'Processing' THEN pg_catalog.date_part('epoch', b.now - b.t0) END AS end_s
    FROM bound b JOIN place p USING (phase_id)
    CROSS JOIN LATERAL (SELECT k.task_id, k.kafka_offset, k.name, k.status, k.attempt_num, k.started_at, k.duration
                        FROM lockstep.task k
                        WHERE k.phase_id = b.phase_id AND k.kafka_offset BETWEEN p.low AND p.high
                        ORDER BY k.kafka_offset LIMIT b.most + 1) t),
few AS (SELECT t.phase_id FROM task t GROUP BY t.phase_id, t.most HAVING pg_catalog.count(*) <= t.most),
attempt AS MATERIALIZED (
    SELECT t.phase_id, t.opened_s, t.task_id, t.kafka_offset, t.name, t.attempt_num AS attempt, t.status, t.start_s,
           t.end_s
    FROM few f JOIN task t USING (phase_id) WHERE t.end_s IS NOT NULL
    UNION ALL
    SELECT t.phase_id, t.opened_s, t.task_id, t.kafka_offset, t.name, a.attempt, a.status,
           pg_catalog.date_part('epoch', a.started_at - t.t0), pg_catalog.date_part('epoch', a.ended_at - t.t0)
    FROM few f JOIN task t USING (phase_id)
    CROSS JOIN LATERAL (SELECT k.attempt, k.status, k.started_at, k.ended_at
                        FROM lockstep.task_attempt k
                        WHERE k.task_id = t.task_id AND k.started_at IS NOT NULL OFFSET 0) a
    WHERE t.attempt_num > 1 OR t.end_s IS NULL),
bar AS (
    SELECT b.*, pg_catalog.count(*) OVER (PARTITION BY b.phase_id) AS bars
    FROM (SELECT a.*, COALESCE(pg_catalog.lag(a.end_s) OVER w, a.opened_s) AS since_s,
                 pg_catalog.lag(a.status) OVER w AS before
          FROM attempt a WINDOW w AS (PARTITION BY a.task_id ORDER BY a.attempt)) b
    WHERE b.start_s <= p_to_s AND b.end_s >= p_from_s)
SELECT pg_catalog.json_build_object(
           'from_s', p_from_s, 'to_s', p_to_s,
           'phases', COALESCE(
               (
                   SELECT pg_catalog.json_agg(pg_catalog.json_build_object('order', p."order", 'bars', x.bars)
                                              ORDER BY p."order")
                   FROM phase p
                   JOIN (
                       SELECT b.phase_id,
                              pg_catalog.json_agg(
                                  pg_catalog.json_build_object(
                                      'task_id', b.task_id, 'name', b.name, 'attempt', b.attempt, 'status', b.status,
                                      'start_s', pg_catalog.round(b.start_s::numeric, 6),
                                      'end_s', pg_catalog.round(b.end_s::numeric, 6),
                                      'waited_s', pg_catalog.round(GREATEST(b.start_s - b.since_s, 0)::numeric, 6),
                                      'waited_for', CASE WHEN b.before <> 'Pending' THEN 'retry' ELSE 'reader' END)
                                  ORDER BY b.kafka_offset, b.attempt) AS bars
                       FROM bar b WHERE b.bars <= 500 GROUP BY b.phase_id) x USING (phase_id)),
               '[]'))
FROM run r);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_bars(bigint, float8, float8) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.run_bars(bigint, float8, float8) TO lockstep_operator, lockstep_monitor;
