-- executor_forget :one  forgets a batch of what ended long ago; how many rows
SELECT lockstep.executor_forget();
