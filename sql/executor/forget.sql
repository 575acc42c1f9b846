-- executor_forget :one  forgets a batch of executors and events that ended long ago; the number of rows
-- columns: forgotten
SELECT lockstep.executor_forget() AS forgotten;
