-- console_publish :one  publishes the tasks $2 as one run of queue $1 with name $3, id $4 (NULL: a new one) and policy
-- $5 (NULL: the queue's)
-- columns: document
SELECT json_build_object('run_id', lockstep.publish(
    queue => $1::text,
    tasks => ARRAY(SELECT t.task FROM json_array_elements($2::json) WITH ORDINALITY AS e (value, no)
                   CROSS JOIN LATERAL (SELECT e.value::jsonb) AS t (task) ORDER BY e.no),
    name => $3::text, run => $4::uuid, on_failure => $5::text)) AS document;
