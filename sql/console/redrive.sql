-- console_redrive :one  publishes the rejected messages $1 again as one run of tasks $2, because of $3, if $4 also
-- those that were redriven before; $5: changes nothing; $6: so many ends of runs are left out
-- columns: document
SELECT lockstep.redrive_many(ids => $1::bigint[],
                             tasks => ARRAY(SELECT e.value::jsonb FROM json_array_elements($2::json)
                                                 WITH ORDINALITY AS e (value, no) ORDER BY e.no),
                             reason => $3::text, again => $4::boolean, preview => $5::boolean,
                             ends => $6::int) AS document;
