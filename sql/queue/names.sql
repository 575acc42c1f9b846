-- queue_names :many  names only, for the nearest one
SELECT q.name FROM lockstep.queue q ORDER BY q.name;
