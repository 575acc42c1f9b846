-- console_ping :one  watch $1 reports $2 (ok, fail), of which $3 is said (NULL: nothing); next_at: when it is expected
-- next
-- columns: document
SELECT lockstep.watch_ping($1::text, $2::text, $3::text) AS document;
