-- job_cells :many  for each of the times $1, in this order, in which of at most $2 columns of a drawing it falls;
-- length: of a column, start: of the first one
-- columns: cell, length, start
WITH times AS (SELECT extract(epoch FROM t.at) AS at, t.n FROM unnest($1::timestamptz[]) WITH ORDINALITY AS t (at, n)),
unit AS (
    SELECT min(u.s) AS s
    FROM unnest('{60,300,900,1800,3600,10800,21600,43200,86400,604800,2592000,31536000,3153600000}'::bigint[]) AS u (s)
    WHERE (SELECT floor(max(t.at) / u.s) - floor(min(t.at) / u.s) FROM times t) < $2::int)
SELECT (floor(t.at / u.s) - floor(min(t.at) OVER () / u.s))::int AS cell, lockstep.rule_length_words(u.s) AS length,
       to_char(to_timestamp(floor(min(t.at) OVER () / u.s) * u.s) AT TIME ZONE 'UTC',
               'YYYY-MM-DD HH24:MI "UTC"') AS start
FROM times t, unit u ORDER BY t.n;
