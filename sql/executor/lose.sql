-- executor_lose :one  attempts whose session is gone: queue_id, task ids, tokens, why, of which kind
-- columns: lost, counted
SELECT l.lost, l.counted
FROM lockstep.lose(
         p_queue_id => $1::int, p_task_ids => $2::bigint[], p_tokens => $3::uuid[], p_why => $4::text,
         p_kind => $5::text) AS l;
