-- sweep_note :none  a sweep of queue $1 has ended: what it did $2; what other tables keep is added
UPDATE lockstep.queue
SET swept_at = clock_timestamp(), swept_detail = $2::text || COALESCE((
    SELECT format('; %s kept by others: ', count(*)) || min(format('run %s: %s', r.run_id, s.held))
    FROM lockstep.run_summary s JOIN lockstep.run r USING (run_no)
    WHERE s.swept_at IS NULL AND r.queue_id = $1::int AND s.held IS NOT NULL HAVING count(*) > 0), '')
WHERE queue_id = $1::int;
