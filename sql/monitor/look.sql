-- monitor_look :one  looks at all jobs, by $1, which does so every $2 ms; looked: not just now by another;
-- held: an alert that it passed over, and the session that has its row, when this is new
-- columns: looked, opened, closed, absence, held
SELECT l.looked, l.opened, l.closed, l.absence, l.held
FROM lockstep.monitor_look($1::text, $2::bigint * interval '1 millisecond') AS l;
