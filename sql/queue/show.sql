-- queue_show :one  everything about queue $1; the log begins at $2, can be read up to $3 and ends at $4 (NULL: Kafka
-- did not answer), the transaction that makes the difference is open since $5 (ms since 1970)
-- columns: name, topic, partition, next_offset, log_start, last_stable, log_end, lag, blocked_offset, blocked_at,
--          blocked_s, max_readers, in_use, on_failure, runs, max_attempts, retry_intervals, lookahead, paused,
--          paused_by, paused_at, paused_reason, halted_reason, halted_detail, halted_remedy, halted_at, cluster_id,
--          partitions, birthmark, active_runs, rejected, dead_letters, outbox, outbox_trouble, created_at, updated_at,
--          external_lease_s, events, retry_on, enqueued, kept, swept_at, swept_detail, row_held
SELECT q.name, q.topic, q.partition, q.next_offset, $2::bigint AS log_start, $3::bigint AS last_stable,
       $4::bigint AS log_end,
       COALESCE(CASE WHEN $4::bigint >= q.next_offset THEN $4::bigint - q.next_offset END,
                lockstep.queue_lag(q.name, q.next_offset)) AS lag,
       b.blocked_offset,
       CASE WHEN b.blocked_offset IS NOT NULL
                THEN COALESCE(to_timestamp($5::bigint / 1000.0),
                              CASE WHEN q.blocked_offset = b.blocked_offset THEN q.blocked_at END) END AS blocked_at,
       CASE WHEN b.blocked_offset IS NOT NULL
                THEN floor(extract(epoch FROM clock_timestamp() - COALESCE(
                                       to_timestamp($5::bigint / 1000.0), q.blocked_at)))::bigint END AS blocked_s,
       q.max_readers,
       (SELECT COALESCE(sum(r.in_use), 0) FROM lockstep.reader_status r WHERE r.queue = q.name) AS in_use, q.on_failure,
       q.runs, COALESCE(q.max_attempts, q.default_attempts, 3) AS max_attempts,
       array_to_string(q.retry_intervals, ',') AS retry_intervals, q.lookahead, q.paused, q.paused_by, q.paused_at,
       CASE WHEN q.paused THEN (
                SELECT l.detail FROM lockstep.event_log l WHERE l.queue_id = q.queue_id AND l.event = 'queue_paused'
                ORDER BY l.event_id DESC LIMIT 1) END AS paused_reason,
       q.halted_reason, q.halted_detail, lockstep.halt_remedy(q.queue_id) AS halted_remedy, q.halted_at, q.cluster_id,
       q.partitions, q.mark::text AS birthmark,
       (SELECT count(*) FROM lockstep.run r WHERE r.queue_id = q.queue_id AND r.ended_at IS NULL) AS active_runs,
       (SELECT count(*) FROM lockstep.rejected_message m WHERE m.queue_id = q.queue_id) AS rejected,
       q.dead_letters, (SELECT count(*) FROM lockstep.outbox o WHERE o.queue_id = q.queue_id) AS outbox,
       (SELECT string_agg(r.trouble, '; ' ORDER BY r.kind)
        FROM lockstep.relay r WHERE r.queue_id = q.queue_id) AS outbox_trouble,
       q.created_at, q.updated_at, extract(epoch FROM q.external_lease)::float8 AS external_lease_s, q.events,
       array_to_string(q.retry_on, ',') AS retry_on,
       (SELECT count(*) FROM lockstep.enqueued e WHERE e.queue_id = q.queue_id) AS enqueued,
       lockstep.keep_words(
           p_runs => q.keep_runs, p_days => q.keep_days, p_failed_days => q.keep_failed_days,
           p_set_by => q.keep_set_by) AS kept,
       t.swept_at, t.detail AS swept_detail,
       (SELECT string_agg(h.sentence || '. ' || h.helps, '; ') FROM lockstep.explain_held(q.queue_id) AS h) AS row_held
FROM lockstep.queue q
CROSS JOIN LATERAL (SELECT CASE WHEN $4::bigint IS NULL THEN q.blocked_offset
                                WHEN $3::bigint < $4::bigint THEN $3::bigint END AS blocked_offset) b
LEFT JOIN lockstep.retention t USING (queue_id)
WHERE q.queue_id = $1::int;
