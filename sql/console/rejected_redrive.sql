-- console_rejected_redrive :one  publishes rejected message $1 again, corrected as $2 (NULL: unchanged), because of $3;
-- if $4 also a message that was redriven before; if $5 only reports the effect
-- columns: document
SELECT lockstep.redrive($1::bigint, $2::text, $3::text, $4::boolean, $5::boolean) AS document;
