-- publish_cancel :none  queue_id $1, run $2, why $3: nothing of the run came onto the topic
-- first_offset tells that a claim has met the run after all; then its state belongs to the executors.
WITH cancelled AS (
    UPDATE lockstep.run SET status = 'Cancelled', error = $3::text, ended_at = pg_catalog.clock_timestamp()
    WHERE queue_id = $1::int AND run_id = $2::uuid AND status = 'Publishing' AND first_offset IS NULL
    RETURNING run_no
)
INSERT INTO lockstep.event_log (event, queue_id, run_no, detail)
SELECT 'publish_failed', $1::int, run_no, $3::text FROM cancelled;
