-- sweep_batch :one  queue_id $1, at most $2 rows, runs behind $3: rows deleted, more to do, position, the run that is
-- finished, the run that is held
-- columns: deleted, more, at, ended, held
SELECT s.deleted, s.more, s.at, s.ended, s.held FROM lockstep.sweep($1::int, $2::int, $3::bigint) AS s;
