-- job_ask_settings :one  for the next statement, with SQL of users in it: at most $1 ms; $2: it may not write
-- columns: timeout, read_only
SELECT pg_catalog.set_config('statement_timeout', $1::pg_catalog.text, false) AS timeout,
       pg_catalog.set_config('default_transaction_read_only', $2::pg_catalog.text, false) AS read_only;
