-- console_queue_delete :maybe  deletes queue $1 with its runs, tasks, records and jobs, because of $2; its topic stays
-- columns: document
SELECT json_build_object('queue', q.name, 'deleted', true, 'topic', q.topic,
                         'tasks', lockstep.queue_delete(q.queue_id, $2::text)) AS document
FROM lockstep.queue q WHERE q.name = $1::text;
