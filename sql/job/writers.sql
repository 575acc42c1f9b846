-- job_writers :one  whether rows may be on their way into what the look of token $1 is to read
-- columns: writers
SELECT lockstep.dispatch_writers($1::uuid) AS writers;
