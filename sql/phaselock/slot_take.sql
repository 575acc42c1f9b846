-- phaselock_slot_take :many  slots of queue $1 for executor $2, one for each reader (pids $3, backend starts $4) while
-- there are any
-- columns: slot_no
-- locks: session
SELECT s.slot_no
FROM pg_catalog.unnest(lockstep.slot_take(
    p_queue_id => $1::int, p_executor_no => $2::int, p_pids => $3::int[],
    p_starts => $4::timestamptz[])) WITH ORDINALITY AS s (slot_no, n)
ORDER BY s.n;
