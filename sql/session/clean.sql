-- session_clean :one  puts a session back to how it was opened, but for what is prepared; session_settings belongs behind it
SELECT lockstep.session_clean();
