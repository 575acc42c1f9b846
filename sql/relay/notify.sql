-- relay_notify :one  notifies the executors of queue $1 that its outbox has rows: $2 = relay, or relay_again for its
-- relay only
-- columns: notified
SELECT pg_catalog.pg_notify('lockstep_' || $1::int, $2::text)::text AS notified;
