-- Whether a run was published longer than p_after ago, and nothing of it was claimed, though an executor of its queue
-- has lived for as long and is at work on no other run: then its messages are lost, or something holds them back.
CREATE OR REPLACE FUNCTION lockstep.job_unclaimed(p_run_no bigint, p_after interval) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.first_offset IS NULL AND r.ended_at IS NULL AND r.created_at < clock_timestamp() - p_after
           AND COALESCE(r.published_at < clock_timestamp() - p_after, true)
           AND NOT EXISTS (SELECT FROM lockstep.run b
                           WHERE b.queue_id = r.queue_id AND b.ended_at IS NULL AND b.first_offset IS NOT NULL)
           AND EXISTS (SELECT FROM lockstep.executor x JOIN lockstep.queue q ON q.queue_id = r.queue_id
                       WHERE x.ended_at IS NULL AND x.started_at < clock_timestamp() - p_after
                         AND q.name = ANY (x.queues)
                         AND x.heartbeat_at > clock_timestamp() - GREATEST(x.frozen_after * 2, interval '30 seconds'))
    FROM lockstep.run r WHERE r.run_no = p_run_no
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_unclaimed(bigint, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_unclaimed(bigint, interval)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
