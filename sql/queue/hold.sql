-- queue_hold :one  pauses ($2 true) or resumes queue $1 because of $3
-- columns: done
SELECT lockstep.queue_hold($1::text, $2::boolean, $3::text) AS done;
