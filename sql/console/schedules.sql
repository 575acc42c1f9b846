-- console_schedules :one  $1 schedules of jobs behind number $2, those of jobs with $3 in their name (NULL: any), in the order in which they were made. The first
-- 100 of a page are said in words, too, which takes longer than all else
-- columns: document
WITH found AS (
    SELECT s.schedule_id FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
    WHERE (s.rows_rule).relation_oid IS NULL AND ($3::text IS NULL OR strpos(lower(j.name), lower($3::text)) > 0)),
page AS MATERIALIZED (SELECT f.schedule_id FROM found f WHERE f.schedule_id > COALESCE($2::bigint, 0) ORDER BY f.schedule_id LIMIT $1::bigint)
SELECT lockstep.page(
    (SELECT json_agg(json_build_object('job', j.name, 'schedule', s.name, 'kind', s.spec ->> 'kind', 'expr', s.spec ->> 'expr', 'zone', (s.rule).zone,
                'rule', s.spec - '{name,kind,enabled,misfire,catchup_window,jitter}'::text[],
                'words', CASE WHEN s.schedule_id = ANY (ARRAY(SELECT p.schedule_id FROM page p ORDER BY p.schedule_id LIMIT 100)) THEN lockstep.schedule_words(s.schedule_id) END,
                'enabled', s.is_active, 'next_at', s.next_at, 'misfire', s.misfire, 'catchup_window_s', lockstep.seconds(s.catchup_window),
                'jitter_s', lockstep.seconds(s.jitter), 'waits_for', s.queued_for) ORDER BY s.schedule_id)
     FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE s.schedule_id = ANY (ARRAY(SELECT schedule_id FROM page))),
    (SELECT 'schedules.' || max(schedule_id) FROM page HAVING count(*) = $1::bigint),
    (SELECT count(*) FROM (SELECT FROM found LIMIT 10001) c)) AS document;
