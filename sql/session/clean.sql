-- session_clean :one  puts a session back to how it was opened, but for what is prepared; session_settings belongs
-- behind it
-- columns: done
SELECT lockstep.session_clean() AS done;
