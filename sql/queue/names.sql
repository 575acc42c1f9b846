-- queue_names :many  names only, for the nearest one
-- columns: name
SELECT q.name FROM lockstep.queue q ORDER BY q.name;
