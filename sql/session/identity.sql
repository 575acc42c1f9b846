-- session_identity :one  whom we are talking to: backend pid, in recovery?, database encoding, backend start
SELECT pg_catalog.pg_backend_pid(), pg_catalog.pg_is_in_recovery(), pg_catalog.getdatabaseencoding(),
       (SELECT a.backend_start::pg_catalog.text FROM pg_catalog.pg_stat_activity a
        WHERE a.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid());
