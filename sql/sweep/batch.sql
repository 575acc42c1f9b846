-- sweep_batch :one  queue_id $1, at most $2 rows: rows deleted, the run that is done with (or NULL), what keeps one (or NULL)
SELECT s.deleted, s.ended, s.held FROM lockstep.sweep($1::int, $2::int) AS s;
