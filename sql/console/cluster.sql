-- console_cluster :one  the figures of this database for the list of all that a console serves; open runs are counted
-- to 10,000
-- columns: document
SELECT json_build_object(
           'database', current_database(), 'queues', (SELECT count(*) FROM lockstep.queue q),
           'halted', (SELECT count(*) FROM lockstep.queue q WHERE q.halted_at IS NOT NULL),
           'open_runs', (SELECT count(*) FROM (SELECT FROM lockstep.run r WHERE r.ended_at IS NULL LIMIT 10001) r),
           'alerts', (SELECT count(*) FROM lockstep.alert a WHERE a.closed_at IS NULL),
           'executors', (SELECT count(*)
                         FROM lockstep.executor e
                         WHERE e.ended_at IS NULL
                           AND e.heartbeat_at > clock_timestamp()
                                                - GREATEST(e.frozen_after * 2, interval '30 seconds'))) AS document;
