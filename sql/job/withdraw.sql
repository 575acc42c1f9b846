-- job_withdraw :one  withdraws the firings of job $1 that wait for a dispatcher: how many
-- columns: withdrawn
SELECT lockstep.job_withdraw($1::text) AS withdrawn;
