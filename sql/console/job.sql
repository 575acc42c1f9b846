-- console_job :maybe  job $1, and if $2 its definition, which has SQL and parameters, and the texts of errors; how it
-- does, its first 100 schedules, and the first 100 firings that wait for a dispatcher
-- columns: document
SELECT json_build_object(
           'job', (SELECT i
                   FROM (SELECT s.*, CASE WHEN $2::boolean THEN n.spec END AS definition, NOT $2::boolean AS hidden
                         FROM lockstep.job_status s WHERE s.job = n.name) i),
           'health', (SELECT i
                      FROM (SELECT h.job, h.queue, h.state, h.is_problem, h.since,
                                   lockstep.shown('job ' || h.state, h.detail, $2::boolean) AS detail, h.next_at,
                                   h.open_run, h.last_run, h.last_status
                            FROM lockstep.job_health h WHERE h.job = n.name) i),
           'schedule_list', COALESCE(
               (SELECT json_agg(lockstep.schedule_document(s.schedule_id, true) ORDER BY s.schedule_id)
                FROM (SELECT b.schedule_id
                      FROM lockstep.schedule b
                      WHERE b.job_id = n.job_id AND (b.rows_rule).relation IS NULL ORDER BY b.schedule_id LIMIT 100) s),
               '[]'::json),
           'requests', COALESCE(
               (SELECT json_agg(json_build_object('schedule', r.schedule_name, 'scheduled_for', r.scheduled_for,
                                                  'source', r.source, 'run_id', r.run_id, 'next_try', r.next_try,
                                                  'failing_since', r.failing_since))
                FROM (SELECT q.* FROM lockstep.job_requests(n.name) AS q LIMIT 100) r),
               '[]'::json)) AS document
FROM (SELECT j.job_id, j.name, j.spec FROM lockstep.job j WHERE j.name = $1::text) n;
