-- publish_alive :one  asks whether this session, and with it the lock, is still there
-- columns: alive
SELECT true AS alive;
