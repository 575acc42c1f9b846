-- job_sweep :one  a batch of what is not kept of jobs goes, of the log what is older than $1 ms; $2 rows of each table
-- at most
-- columns: deleted
SELECT lockstep.job_sweep($1::bigint * interval '1 millisecond', $2::int) AS deleted;
