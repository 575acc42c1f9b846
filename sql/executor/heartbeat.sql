-- executor_heartbeat :many  beats, says which trouble keeps it from work ($3, NULL: none) and of which kind this is
-- ($4: login, kafka, writes; readers: only some readers are kept from work), and reads the others: a row each
-- (executor_no, heartbeat, lives, busy), one of NULLs if there is none; no row at all: this executor was declared dead.
-- $5: its dispatcher of jobs is on standby; dispatch_free: the lock is free. $6 the ends of its topics, $7 the memory
-- that it uses: NULL: as before. $8 what signals have asked of it: held, draining; NULL: nothing. $9 why it cannot read
-- the topics of its queues, in their order, NULL: it can
-- columns: executor_no, heartbeat, lives, busy, dispatch_free
WITH beat AS (
    UPDATE lockstep.executor
    SET busy = $2::boolean, heartbeat = heartbeat + 1, heartbeat_at = clock_timestamp(), trouble = $3::text,
        trouble_kind = $4::text, signalled = $8::text,
        ends = COALESCE($6::bigint[], ends), memory_bytes = COALESCE($7::bigint, memory_bytes),
        queue_trouble = $9::text[],
        queue_trouble_at = CASE WHEN $9::text[] IS NOT NULL THEN ARRAY(
            SELECT CASE WHEN n.trouble IS NOT NULL THEN COALESCE(queue_trouble_at[n.place], clock_timestamp()) END
            FROM unnest($9::text[]) WITH ORDINALITY AS n (trouble, place) ORDER BY n.place) END,
        trouble_at = CASE WHEN $3::text IS NOT NULL THEN COALESCE(
                              CASE WHEN trouble_kind = $4::text THEN trouble_at END, clock_timestamp()) END
    WHERE executor_no = $1::int AND ended_at IS NULL
    RETURNING executor_no),
-- Asked as executor_lives asks: of two sessions that ask, neither takes the other one for a dispatcher.
free AS MATERIALIZED (
    SELECT $5::boolean
           AND pg_catalog.pg_try_advisory_xact_lock_shared(lockstep.lock_class('dispatch'), 0) AS dispatch_free),
-- Two questions, because each has an index.
others AS (
    SELECT e.executor_no, e.heartbeat, e.ended_at, e.busy FROM lockstep.executor e WHERE e.ended_at IS NULL
    UNION ALL
    -- The executor that saw it die first has marked it, and may serve other queues: for a while all executors search
    -- for its work.
    SELECT e.executor_no, e.heartbeat, e.ended_at, e.busy FROM lockstep.executor e
    WHERE e.ended_why IS DISTINCT FROM 'drained' AND e.ended_at > now() - interval '15 seconds')
SELECT o.executor_no, o.heartbeat,
       o.executor_no IS NULL OR (o.ended_at IS NULL AND lockstep.executor_lives(o.executor_no)) AS lives, o.busy,
       f.dispatch_free
FROM beat b LEFT JOIN others o ON o.executor_no <> b.executor_no CROSS JOIN free f;
