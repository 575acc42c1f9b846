-- Compares the incidents with how jobs do now, for monitor_look, which lets one session at a time do it. A job that
-- runs is failed or late as its last run was: one whose runs overlap, or follow each other, has an open run at each
-- look. A run that is blocked or stuck keeps the incident of the run before. p_free: the open incidents whose rows this
-- session has locked; the others are left to the next look.
CREATE OR REPLACE FUNCTION lockstep.monitor_compare(
    p_now timestamptz, p_free bigint[], OUT opened int, OUT closed int)
LANGUAGE sql AS $$
    WITH health AS MATERIALIZED (
        SELECT h.job, CASE WHEN l.counts THEN h.last_state ELSE h.state END AS state,
               CASE WHEN l.counts THEN h.last_since ELSE h.since END AS since,
               CASE WHEN l.counts THEN h.last_detail ELSE h.detail END AS detail, h.is_problem,
               CASE WHEN h.state = 'running' THEN h.last_state END AS behind -- the open run
        FROM lockstep.job_health h
        CROSS JOIN LATERAL (SELECT h.state = 'running' AND h.is_problem AS counts) l
    ),
    free AS MATERIALIZED (SELECT pg_catalog.unnest(p_free) AS alert_id),
    seen AS (
        UPDATE lockstep.job_alert a
        SET last_seen_at = p_now, unseen = 0, since = h.since, text = h.detail, opened_at = COALESCE(a.opened_at, p_now)
        FROM health h
        WHERE a.closed_at IS NULL AND a.job = h.job AND a.kind = h.state AND h.is_problem
          AND a.alert_id IN (SELECT f.alert_id FROM free f)
        RETURNING a.job, a.kind, a.text, a.opened_at = p_now AS opens),
    fresh AS (
        INSERT INTO lockstep.job_alert (job, kind, since, seen_at, last_seen_at, text)
        SELECT h.job, h.state, h.since, p_now, p_now, h.detail
        FROM health h
        WHERE h.is_problem
          AND NOT EXISTS (SELECT FROM lockstep.job_alert a
                          WHERE a.closed_at IS NULL AND a.job = h.job AND a.kind = h.state)),
    unseen AS (
     SELECT a.alert_id, a.opened_at, h.state, h.is_problem
     FROM free f JOIN lockstep.job_alert a USING (alert_id) LEFT JOIN health h USING (job)
     WHERE a.closed_at IS NULL AND a.kind <> 'absent' AND h.state IS DISTINCT FROM a.kind
       AND (a.kind IN ('failed', 'late') AND (h.state IN ('stuck', 'blocked') OR h.behind = 'disabled')
            OR a.kind = 'failed' AND 'missed' IN (h.state, h.behind)) IS NOT TRUE
    ),
    forgotten AS (
     DELETE FROM lockstep.job_alert a USING unseen u WHERE a.alert_id = u.alert_id AND u.opened_at IS NULL
    ),
    missing AS (
        UPDATE lockstep.job_alert a
        SET unseen = a.unseen + 1, closed_at = CASE WHEN a.unseen > 0 THEN p_now END,
            ended = CASE WHEN a.unseen > 0 THEN CASE WHEN u.state IS NULL THEN 'deleted'
                                                     WHEN u.state IN ('disabled', 'paused', 'silenced') THEN u.state
                                                     WHEN u.is_problem THEN 'changed' ELSE 'recovered' END END
        FROM unseen u
        WHERE a.alert_id = u.alert_id AND u.opened_at IS NOT NULL
        RETURNING a.job, a.kind, a.ended, a.closed_at IS NOT NULL AS closes),
    noted AS (
        SELECT CASE WHEN s.kind IN ('missed', 'late', 'stuck') THEN lockstep.job_note(s.job, s.kind, 'monitor', s.text)
                    ELSE lockstep.job_note(s.job, 'alert', 'monitor', pg_catalog.concat_ws(': ', s.kind, s.text)) END
        FROM seen s WHERE s.opens
        UNION ALL
        SELECT lockstep.job_note(m.job, CASE m.ended WHEN 'recovered' THEN 'recovered' ELSE 'alert' END, 'monitor',
                                 pg_catalog.format('%s is over: %s', m.kind, m.ended))
        FROM missing m WHERE m.closes)
    SELECT (SELECT pg_catalog.count(*) FROM seen s WHERE s.opens)::int,
           (SELECT pg_catalog.count(*) FROM missing m WHERE m.closes)::int
    WHERE (SELECT pg_catalog.count(*) FROM noted) >= 0
$$;
REVOKE EXECUTE ON FUNCTION lockstep.monitor_compare(timestamptz, bigint[]) FROM PUBLIC;
