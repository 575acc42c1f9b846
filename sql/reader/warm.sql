-- reader_warm :one  a new session gets ready for its first task
SELECT lockstep.session_warm();
