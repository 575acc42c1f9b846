-- Runs that were published up to an offset at which the topic's log does not arrive any more: it was deleted and made
-- again, or has lost its end. Of the run that is given, else the first of the queue. p_log_end: where the log ends,
-- read after p_asked_at. A run that was published since then may be behind that end and yet on the topic, so it is
-- passed over. See explain.
CREATE OR REPLACE FUNCTION lockstep.explain_gone(
    p_queue_id int, p_run_no bigint, p_log_end bigint, p_asked_at timestamptz)
RETURNS SETOF lockstep.explanation LANGUAGE sql AS $$
    SELECT e.*
    FROM (SELECT r.run_no, r.run_id, r.first_offset, r.publish_acked_offset, r.published_at, q.name, q.topic,
                 pg_catalog.concat_ws(' ', 'run', r.run_id, '"' || r.name || '"') AS about
          FROM lockstep.run r JOIN lockstep.queue q USING (queue_id)
          WHERE r.queue_id = p_queue_id AND r.ended_at IS NULL AND (p_run_no IS NULL OR r.run_no = p_run_no)
            AND r.cancelled_at IS NULL AND r.end_offset IS NULL AND r.published_at < p_asked_at
            AND r.publish_acked_offset >= GREATEST(p_log_end, q.next_offset)
          ORDER BY r.run_no LIMIT 3) AS x
    CROSS JOIN LATERAL lockstep.explain_row(
        'run_records_gone',
        pg_catalog.format('%s of %s will be claimed: it was published up to offset %s, and the log of topic %s ends at '
                          'offset %s. Its records went with the topic, or with the log''s end',
                          CASE WHEN x.first_offset IS NULL THEN 'nothing' ELSE 'nothing more' END, x.about,
                          x.publish_acked_offset, x.topic, p_log_end),
        x.about, x.published_at, ARRAY['QUEUE', x.name, 'RUN', x.run_id::text]) AS e
    ORDER BY x.run_no
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_gone(int, bigint, bigint, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_gone(int, bigint, bigint, timestamptz)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
