-- The progress of a phase, from about p_most of its tasks: all of them, if it has no more (counted_all). Of a larger
-- phase the number of tasks is computed from the numbers of its first and its last task, and the rows that are read are
-- the last p_most; of an open phase those before the first task without an executor: all behind it are pending. Tasks
-- that are not read count as completed. Sorts are off: the rows come in the order of the index, with any statistics.
CREATE OR REPLACE FUNCTION lockstep.phase_counts(
    p_phase_id bigint, p_opened boolean, p_done boolean, p_most bigint, OUT tasks bigint, OUT pending bigint,
    OUT processing bigint, OUT error bigint, OUT completed bigint, OUT failed bigint, OUT cancelled bigint,
    OUT first_start timestamptz, OUT last_end timestamptz, OUT counted_all boolean)
LANGUAGE plpgsql STABLE SET enable_sort = off SET enable_bitmapscan = off AS $$
DECLARE
    head record;
    tail record;
    unowned record;
    behind bigint := 0;
    before bigint := 9223372036854775807;
BEGIN
    LOOP
        SELECT pg_catalog.count(*), pg_catalog.count(*) FILTER (WHERE t.status IN ('Pending', 'Paused')) + behind,
               pg_catalog.count(*) FILTER (WHERE t.status = 'Processing'),
               pg_catalog.count(*) FILTER (WHERE t.status = 'Error'),
               pg_catalog.count(*) FILTER (WHERE t.status = 'Completed'),
               pg_catalog.count(*) FILTER (WHERE lockstep.is_failed(t.status)),
               pg_catalog.count(*) FILTER (WHERE t.status = 'Cancelled'), pg_catalog.min(t.started_at),
               pg_catalog.max(t.started_at + t.duration)
        INTO tasks, pending, processing, error, completed, failed, cancelled, first_start, last_end
        FROM (
            SELECT k.status, k.started_at, k.duration FROM lockstep.task k
            WHERE k.phase_id = p_phase_id AND k.kafka_offset < before ORDER BY k.kafka_offset DESC LIMIT p_most + 1) t;
        EXIT WHEN NOT counted_all; -- it was the window
        counted_all := tasks <= p_most;
        EXIT WHEN counted_all;
        SELECT k.seq, k.kafka_offset INTO head
        FROM lockstep.task k WHERE k.phase_id = p_phase_id ORDER BY k.kafka_offset LIMIT 1;
        SELECT k.seq, k.kafka_offset INTO tail
        FROM lockstep.task k WHERE k.phase_id = p_phase_id ORDER BY k.kafka_offset DESC LIMIT 1;
        IF NOT p_opened THEN
            before := head.kafka_offset;
            behind := COALESCE(tail.seq - head.seq, tail.kafka_offset - head.kafka_offset) + 1;
        ELSIF NOT p_done THEN
            SELECT k.seq, k.kafka_offset INTO unowned
            FROM lockstep.task k -- by task_unowned
            WHERE k.phase_id + 0 = p_phase_id AND k.executor_no IS NULL AND k.type <> 'external'
            ORDER BY k.kafka_offset LIMIT 1;
            before := COALESCE(unowned.kafka_offset, before);
            behind := COALESCE(tail.seq - unowned.seq, tail.kafka_offset - unowned.kafka_offset, -1) + 1;
        END IF;
    END LOOP;
    IF NOT counted_all THEN
        tasks := COALESCE(tail.seq - head.seq, tail.kafka_offset - head.kafka_offset) + 1;
        completed := GREATEST(tasks - pending - processing - error - failed - cancelled, 0);
        SELECT pg_catalog.min(t.started_at) INTO first_start
        FROM (SELECT k.started_at
              FROM lockstep.task k WHERE k.phase_id = p_phase_id ORDER BY k.kafka_offset LIMIT 16) t;
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.phase_counts(bigint, boolean, boolean, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.phase_counts(bigint, boolean, boolean, bigint)
    TO lockstep_operator, lockstep_monitor;
