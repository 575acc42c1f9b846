-- phaselock_slot_take :many  slots of queue $1 for executor $2, one for each reader (pids $3, backend starts $4) while there are any
-- columns: slot_no
SELECT s.slot_no
FROM pg_catalog.unnest(lockstep.slot_take($1::int, $2::int, $3::int[], $4::timestamptz[])) WITH ORDINALITY AS s (slot_no, n)
ORDER BY s.n;
