-- explain_reasons :many  why queue $1, run $2 or task $3 does not go on: one of them is given
SELECT e.reason, e.sentence, e.about, e.since, extract(epoch FROM clock_timestamp() - e.since)::bigint AS age_s, e.helps
FROM lockstep.explain($1::int, $2::bigint, $3::bigint) AS e;
