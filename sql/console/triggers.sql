-- console_triggers :one  $1 triggers of jobs behind number $2, those of jobs with $3 in their name (NULL: any), with
-- their last look; and if $4 their SQL
-- columns: document
WITH found AS (
    SELECT s.schedule_id FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
    WHERE (s.rows_rule).relation IS NOT NULL AND ($3::text IS NULL OR strpos(lower(j.name), lower($3::text)) > 0)),
page AS MATERIALIZED (
    SELECT f.schedule_id
    FROM found f WHERE f.schedule_id > COALESCE($2::bigint, 0) ORDER BY f.schedule_id LIMIT $1::bigint)
SELECT lockstep.page(
           (SELECT json_agg(json_build_object(
                                'job', j.name, 'trigger', s.name, 'relation', (s.rows_rule).relation,
                                'created_column', (s.rows_rule).created_column,
                                'pending', CASE WHEN $4::boolean THEN (s.rows_rule).pending END,
                                'mark', CASE WHEN $4::boolean THEN (s.rows_rule).mark END, 'hidden', NOT $4::boolean,
                                'check_every_s', lockstep.seconds((s.rows_rule).check_every),
                                'threshold', (s.rows_rule).threshold, 'idle_s', lockstep.seconds((s.rows_rule).idle),
                                'debounce_s', lockstep.seconds((s.rows_rule).debounce),
                                'max_wait_s', lockstep.seconds((s.rows_rule).max_wait),
                                'min_between_s', lockstep.seconds((s.rows_rule).min_between), 'enabled', s.is_active,
                                'next_at', s.next_at, 'looked_at', (s.look).at, 'rows', (s.look).rows,
                                'oldest_at', (s.look).oldest_at, 'newest_at', (s.look).newest_at,
                                'failures', COALESCE((s.look).failures, 0),
                                'error', lockstep.shown('error', (s.look).error, $4::boolean),
                                'failing_since', s.failing_since, 'fired_at', s.fired_at) ORDER BY s.schedule_id)
            FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
            WHERE s.schedule_id = ANY (ARRAY(SELECT schedule_id FROM page))),
           (SELECT 'triggers.' || max(schedule_id) FROM page HAVING count(*) = $1::bigint),
           (SELECT count(*) FROM (SELECT FROM found LIMIT 10001) c)) AS document;
