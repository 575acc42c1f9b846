-- job_sweep :one  deletes a batch of rows of jobs that are not kept, of the log those that are older than $1 ms; $2
-- rows of each table at most
-- columns: deleted
SELECT lockstep.job_sweep($1::bigint * interval '1 millisecond', $2::int) AS deleted;
