-- reader_now :one  the database's clock
SELECT clock_timestamp();
