-- publish_read_query :one  opens the cursor lockstep_staged for the query $1 of staged work: the cursor's name
SELECT lockstep.publish_open($1::text);
