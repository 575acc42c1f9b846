-- session_flush :one  makes everything committed so far durable (with synchronous_commit = on in its transaction)
SELECT pg_catalog.pg_logical_emit_message(true, 'lockstep', '');
