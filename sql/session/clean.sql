-- session_clean :one  returns a session to its state when it was opened, except prepared statements; session_settings
-- belongs behind it
-- columns: done
SELECT lockstep.session_clean() AS done;
