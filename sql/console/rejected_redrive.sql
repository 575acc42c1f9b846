-- console_rejected_redrive :one  publishes rejected message $1 again, corrected as $2 (NULL: as it is), because of $3;
-- if $4 also one that was redriven before; if $5 only says what would be
-- columns: document
SELECT lockstep.redrive($1::bigint, $2::text, $3::text, $4::boolean, $5::boolean) AS document;
