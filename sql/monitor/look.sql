-- monitor_look :one  looks at all jobs, by $1, which does so every $2 ms; looked: not just now by another
-- columns: looked, opened, closed, absence
SELECT l.looked, l.opened, l.closed, l.absence
FROM lockstep.monitor_look($1::text, $2::bigint * interval '1 millisecond') AS l;
