-- console_change_end :one  what visitor $1 with key $2 was answered: $3
-- columns: done
SELECT lockstep.change_end($1::text, $2::text, $3::text) AS done;
