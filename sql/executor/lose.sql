-- executor_lose :one  attempts whose session is gone: queue_id, task ids, tokens, why, of which kind
-- columns: lost
SELECT lockstep.lose($1::int, $2::bigint[], $3::uuid[], $4::text, $5::text) AS lost;
