-- console_change_begin :one  whether visitor $1 asks with key $2 for the first time, for $3
-- columns: is_new, is_same, answer
SELECT c.is_new, c.is_same, c.answer FROM lockstep.change_begin($1::text, $2::text, $3::text) AS c;
