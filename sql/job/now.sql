-- job_now :one  the clock of the database
-- columns: now
SELECT clock_timestamp() AS now;
