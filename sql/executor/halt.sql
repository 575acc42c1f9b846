-- executor_halt :maybe  stops queue $1 for reason $2, detail $3 until a person decides; $4: the halt_no under which the
-- reason was found
-- No row: another executor has halted it, or a person has decided since: the finding is old.
-- columns: queue_id, notified
WITH halted AS (
    UPDATE lockstep.queue SET halted_reason = $2::text, halted_detail = $3::text, halted_at = clock_timestamp()
    WHERE queue_id = $1::int AND halted_reason IS NULL AND halt_no = $4::int RETURNING queue_id),
logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT 'queue_halted', queue_id, $2::text || ': ' || $3::text FROM halted)
SELECT queue_id, pg_notify('lockstep_' || queue_id, 'control')::text AS notified FROM halted;
