-- console_schedule_explain :one  what the rule $1 means, $2 times of it, and its clock changes
-- columns: document
SELECT json_build_object('means', max(e.words) FILTER (WHERE e.kind = 'means'),
                         'warnings', COALESCE(json_agg(e.words) FILTER (WHERE e.kind = 'warning'), '[]'::json),
                         'next', COALESCE(json_agg(json_build_object('at', e.at, 'local', e.words) ORDER BY e.at)
                                              FILTER (WHERE e.kind = 'next'),
                                          '[]'::json),
                         'clock_changes', COALESCE(
                             json_agg(json_build_object('at', e.at, 'effect', e.words) ORDER BY e.at) FILTER (
                                 WHERE e.kind = 'clock_change'),
                             '[]'::json)) AS document
FROM lockstep.schedule_explain($1::jsonb, $2::int) AS e;
