-- reader_now :one  the database's clock
-- columns: now
SELECT clock_timestamp() AS now;
