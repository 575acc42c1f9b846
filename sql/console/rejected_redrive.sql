-- console_rejected_redrive :one  publishes rejected message $1 again, corrected as $2 (NULL: unchanged), because of $3;
-- if $4 also a message that was redriven before; if $5 only reports the effect
-- columns: document
SELECT lockstep.redrive(rejected_id => $1::bigint, value => $2::text, reason => $3::text,
                        again => $4::boolean, preview => $5::boolean) AS document;
