-- session_identity :one  whom we are talking to: backend pid, in recovery?, database encoding, backend start
-- columns: pid, in_recovery, encoding, backend_start
SELECT pg_catalog.pg_backend_pid() AS pid, pg_catalog.pg_is_in_recovery() AS in_recovery,
       pg_catalog.getdatabaseencoding() AS encoding,
       -- the function behind pg_stat_activity: to plan that view costs 2 ms of each session's start
       (SELECT a.backend_start::pg_catalog.text
        FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) a) AS backend_start;
