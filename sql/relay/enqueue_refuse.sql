-- relay_enqueue_refuse :one  enqueued run $1 cannot be published because of $2: its id
-- columns: run_id
SELECT lockstep.enqueue_refuse($1::bigint, $2::text) AS run_id;
