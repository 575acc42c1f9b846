-- reader_warm :one  a new session gets ready for its first task
-- columns: done
SELECT lockstep.session_warm() AS done;
