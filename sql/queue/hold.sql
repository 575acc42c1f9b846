-- queue_hold :one  pauses ($2 true) or resumes queue $1 because of $3. If it was paused before: by whom, when, why
-- columns: done, paused_by, paused_at, paused_reason
SELECT lockstep.queue_hold($1::text, $2::boolean, $3::text) AS done, q.paused_by,
       date_trunc('second', q.paused_at) AS paused_at,
       (SELECT l.detail FROM lockstep.event_log l
        WHERE l.queue_id = q.queue_id AND l.run_no IS NULL AND l.at >= q.paused_at AND l.event = 'queue_paused'
        ORDER BY l.at LIMIT 1) AS paused_reason
FROM (SELECT $1::text AS name) AS given LEFT JOIN lockstep.queue q ON q.name = given.name AND q.paused;
