-- publish_read_query :one  opens the cursor lockstep_staged for the query $1 of staged work: the cursor's name
-- columns: cursor
SELECT lockstep.publish_open($1::text) AS cursor;
