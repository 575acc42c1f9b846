-- relay_number :one  queue_id, kind: gives numbers to at most $3 new rows; the newest number
-- columns: newest
SELECT lockstep.relay_number($1::int, $2::text, $3::int) AS newest;
