-- session_row_waited :maybe  the session that held up a statement which has given up, the one with the oldest
-- transaction: detail $1 and context $2 of the error
-- columns: pid, who
SELECT a.pid, concat_ws(', ', s."is", 'in a transaction since ' || date_trunc('second', a.xact_start)) AS who
FROM lockstep.row_waited($1::text, $2::text) AS w (pid) JOIN pg_catalog.pg_stat_activity a ON a.pid = w.pid
CROSS JOIN LATERAL lockstep.explain_session(w.pid) AS s
ORDER BY a.xact_start NULLS LAST, a.pid LIMIT 1;
