-- queue_losses :one  what is gone when queue $1 is deleted, in words; its log ends at $2 (NULL: not known). Empty:
-- nothing that was not done
-- columns: all, undone
SELECT concat_ws(', ', lockstep.counted(r.runs, 'run'), lockstep.counted(t.tasks, 'task'),
                 NULLIF(lockstep.counted(m.messages, 'rejected message'), '0 rejected messages'),
                 NULLIF(lockstep.counted(j.jobs, 'job'), '0 jobs')) AS "all",
       concat_ws(', ',
                 CASE WHEN r.open > 0
                          THEN lockstep.counted(r.open, 'run')
                               || CASE WHEN r.open = 1 THEN ' that has not ended' ELSE ' that have not ended' END END,
                 CASE WHEN t.open > 0 THEN lockstep.counted(t.open, 'task')
                                           || CASE WHEN t.open = 1 THEN ' that is not finished'
                                                   ELSE ' that are not finished' END END,
                 CASE WHEN e.sets > 0 THEN lockstep.counted(e.sets, 'enqueued run') || ' that no executor has sent' END,
                 CASE WHEN $2::bigint > q.next_offset THEN format('offsets %s to %s of topic %s, which are not claimed',
                                                                  q.next_offset, $2::bigint, q.topic) END) AS undone
FROM lockstep.queue q
CROSS JOIN LATERAL (SELECT count(*) AS runs, count(*) FILTER (WHERE b.ended_at IS NULL) AS open
                    FROM lockstep.run b WHERE b.queue_id = q.queue_id) r
CROSS JOIN LATERAL (SELECT count(*) AS tasks, count(*) FILTER (WHERE NOT lockstep.is_finished(b.status)) AS open
                    FROM lockstep.task b WHERE b.queue_id = q.queue_id) t
CROSS JOIN LATERAL (SELECT count(*) AS messages FROM lockstep.rejected_message b WHERE b.queue_id = q.queue_id) m
CROSS JOIN LATERAL (SELECT count(*) AS jobs FROM lockstep.job b WHERE b.queue_id = q.queue_id) j
CROSS JOIN LATERAL (SELECT count(*) AS sets FROM lockstep.enqueued b WHERE b.queue_id = q.queue_id) e
WHERE q.queue_id = $1::int;
