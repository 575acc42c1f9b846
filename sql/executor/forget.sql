-- executor_forget :one  forgets a batch of what ended long ago; how many rows
-- columns: forgotten
SELECT lockstep.executor_forget() AS forgotten;
