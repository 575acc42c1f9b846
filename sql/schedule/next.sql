-- schedule_next :many  the next $2 times of rule $1, after the time that it names (now), and the local time of its zone
-- at each
-- columns: at, local
SELECT n.at, to_char(n.at AT TIME ZONE COALESCE($1::jsonb ->> 'zone', 'UTC'), 'Dy YYYY-MM-DD HH24:MI:SS') AS local
FROM lockstep.forecast($1::jsonb, NULL, $2::int) WITH ORDINALITY AS n (at, no)
ORDER BY n.no;
