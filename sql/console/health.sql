-- console_health :one  how $1 jobs do, behind $2: first those that the monitor has an incident of, then the others,
-- both by name; those with $3 in their name, and in states $4, of which "problem" is every job with a problem, also
-- one that runs behind a failure; if $5 with the texts of errors. NULL for $4: any state, and then states are asked of
-- the jobs of the page alone; otherwise of each job
-- columns: document
WITH health AS MATERIALIZED (
    SELECT h.job
    FROM lockstep.job_health h
    WHERE h.state = ANY (string_to_array($4::text, ','))
       OR h.is_problem AND 'problem' = ANY (string_to_array($4::text, ','))),
found AS (
    SELECT CASE WHEN EXISTS (SELECT FROM lockstep.alert a WHERE a.job = j.name AND a.closed_at IS NULL) THEN '0'
                ELSE '1' END
           || j.name AS name,
           j.name AS job
    FROM lockstep.job j
    WHERE ($3::text IS NULL OR strpos(lower(j.name), lower($3::text)) > 0)
      AND ($4::text IS NULL OR j.name IN (SELECT h.job FROM health h))),
page AS MATERIALIZED (
    SELECT f.name, f.job
    FROM found f
    WHERE f.name COLLATE "C" > COALESCE($2::text, '') COLLATE "C" ORDER BY f.name COLLATE "C" LIMIT $1::bigint)
SELECT lockstep.page((SELECT json_agg(i ORDER BY i.is_problem DESC, i.job)
                      FROM (SELECT h.job, h.queue, h.state, h.is_problem, h.since,
                                   lockstep.shown('job ' || h.state, h.detail, $5::boolean) AS detail, h.next_at,
                                   h.open_run, h.last_run, h.last_status
                            FROM lockstep.job_health h WHERE h.job = ANY (ARRAY(SELECT p.job FROM page p))) i),
                     (SELECT 'health.' || max(name COLLATE "C") FROM page HAVING count(*) = $1::bigint),
                     (SELECT count(*)
                      FROM (SELECT FROM lockstep.job j
                            WHERE ($3::text IS NULL OR strpos(lower(j.name), lower($3::text)) > 0)
                                  AND ($4::text IS NULL OR j.name IN (SELECT h.job FROM health h))
                            LIMIT 10001) c)) AS document;
