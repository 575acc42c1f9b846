-- The state of each job, from rows alone: so a dispatcher that is missing, or that lives and decides nothing, is found
-- by any session that reads this view. is_problem: a person should act. Promised to users: a column keeps its name and
-- meaning; new ones go to the end.
--   disabled, paused, silenced    by a person, no problem; a job is disabled, too, when each of its schedules is
--   manual    it has no schedule: no run is expected
--   blocked   fired, but its queue is halted or has no executor
--   running   a run of it is open, or the SQL of a firing whose time has passed runs
--   stuck     its run takes longer than max_expected; without one, longer than twice the time of 95 of 100 good runs
--             and a minute, known after five that were not retried; or none of its messages was claimed
--             for five minutes, though an executor has no other work
--   missed    a time has passed by more than lockstep.job_grace, and no dispatcher has decided it; or its last time was
--             decided as missed
--   failed    a schedule whose zone is gone, its last run, the firing of its last time, or three looks of its trigger
--             in a row; since the first of them
--   never     a schedule is enabled, and no time is to come
--   late      its last run began late; no run of a trigger or after a job does
-- running is a problem, too, when the last run has failed or was late: overlapping runs would hide it.
-- last_state, last_since and last_detail: as state, since and detail would be if no run of it were open, the job
-- enabled and not silenced, and its queue not paused. They have no blocked, running and stuck.
CREATE OR REPLACE VIEW lockstep.job_health AS
SELECT h.job, h.queue, COALESCE(h.state, h.last_state) AS state,
       COALESCE(h.state, h.last_state) IN ('blocked', 'stuck', 'missed', 'never', 'failed', 'late')
       OR (h.state = 'running' AND h.last_state IN ('failed', 'late')) AS is_problem,
       CASE WHEN h.state IS NULL THEN h.last_since
            WHEN h.state = 'disabled' THEN h.changed_at
            WHEN h.state = 'paused' THEN h.paused_at
            WHEN h.state = 'silenced' THEN h.silenced_at
            ELSE COALESCE(h.open_since, h.asked_at) END AS since,
       CASE WHEN h.state IS NULL THEN h.last_detail
            WHEN h.state = 'stuck'
                THEN CASE WHEN h.is_unclaimed THEN format(
                              'nothing of run %s was claimed: lockstep run explain %s', h.open_run, h.open_run)
                          ELSE format('run %s takes longer than %s', h.open_run, date_trunc('second', h.longest)) END
            WHEN h.state = 'blocked'
                THEN format('run %s waits: queue %s %s', h.open_run, h.queue,
                            CASE WHEN h.is_halted THEN 'is halted' ELSE 'has no executor' END)
            WHEN h.state = 'silenced' THEN h.silence
            WHEN h.state = 'running'
                THEN COALESCE('run ' || h.open_run, 'the SQL of its firing runs')
                     || CASE h.last_state WHEN 'failed' THEN '; before it the job had failed'
                                          WHEN 'late' THEN '; before it the job was late' ELSE '' END END AS detail,
       h.next_at, h.open_run, h.last_run, h.last_status, h.last_state, h.last_since, h.last_detail
FROM (
    SELECT h.*,
           CASE h.last_state
               WHEN 'missed' THEN CASE WHEN h.is_undecided THEN h.next_at ELSE h.last_for END
               WHEN 'failed'
                   THEN COALESCE(CASE WHEN h.fault IS NOT NULL THEN COALESCE(h.failing_since, h.changed_at)
                                      WHEN h.look_at IS NOT NULL OR h.last_outcome = 'error' THEN h.failing_since END,
                                 h.last_ended_at, h.last_decided_at)
               WHEN 'late' THEN h.last_for
               WHEN 'disabled' THEN h.changed_at
               WHEN 'never' THEN h.changed_at END AS last_since,
           CASE h.last_state
               WHEN 'missed'
                   THEN CASE WHEN h.is_undecided IS NOT TRUE THEN format(
                                 '%s: %s was missed: %s', h.last_source, lockstep.job_time(h.last_for), h.last_reason)
                             WHEN h.held IS NOT NULL
                                 THEN format('schedule %s: %s was not decided: %s%s', h.schedule,
                                             lockstep.job_time(h.next_at), h.held, lockstep.job_passed(h.due))
                             ELSE format('schedule %s: %s %s%s', h.schedule,
                                         CASE WHEN h.is_watch THEN 'it has not reported for'
                                              ELSE 'no dispatcher decided' END,
                                         lockstep.job_time(h.next_at), lockstep.job_passed(h.due)) END
               WHEN 'failed'
                   THEN CASE WHEN h.fault IS NOT NULL THEN h.fault
                             WHEN h.look_at IS NOT NULL
                                 THEN format('trigger: %s', COALESCE(h.look_error, h.last_reason))
                             WHEN h.last_outcome = 'error' THEN format('%s: %s', h.last_source, h.last_reason)
                             WHEN h.is_watch THEN COALESCE(h.last_reason, 'it has reported a failure')
                             ELSE concat_ws(': ', format('run %s is %s', h.last_run, h.last_status), h.last_error) END
               WHEN 'late' THEN format('it %s %s after its time', CASE WHEN h.is_watch THEN 'reported' ELSE 'fired' END,
                                        date_trunc('second', h.lateness))
               WHEN 'never' THEN 'no schedule has a time to come' END AS last_detail
    FROM (
        SELECT j.name AS job, q.name AS queue, j.changed_at, q.paused_at, q.halted_reason IS NOT NULL AS is_halted,
               j.is_watch, n.name AS schedule, c.next_at, o.run_id AS open_run, o.since AS open_since,
               COALESCE(l.run_id, f.run_id) AS last_run, COALESCE(l.status, f.status) AS last_status,
               y.error AS last_error, l.reason AS last_reason, l.ended_at AS last_ended_at, l.scheduled_for AS last_for,
               l.decided_at - l.scheduled_for AS lateness, p.longest, o.is_unclaimed, z.set_at AS silenced_at,
               n.schedule AS due, n.is_undecided, n.asked_at, c.fault, c.look_at, c.look_error, c.failing_since,
               l.outcome AS last_outcome, l.source AS last_source, l.decided_at AS last_decided_at,
               CASE WHEN z.job_id IS NOT NULL
                        THEN format('until %s by %s: %s', lockstep.job_time(date_trunc('second', z.until)), z.set_by,
                                    z.reason) END AS silence,
               CASE WHEN n.is_undecided AND NOT j.is_watch
                        THEN COALESCE((SELECT min(w.why) FROM lockstep.job_held(j.job_id) AS w),
                                      (n.schedule).failing_why) END AS held,
               CASE WHEN NOT j.enabled THEN 'disabled'
                    WHEN q.paused THEN 'paused'
                    WHEN z.until > clock_timestamp() THEN 'silenced'
                    WHEN o.run_id IS NOT NULL AND (q.halted_reason IS NOT NULL OR NOT e.lives) THEN 'blocked'
                    WHEN o.is_unclaimed OR clock_timestamp() - o.since > p.longest THEN 'stuck'
                    WHEN o.run_id IS NOT NULL OR n.asked_at IS NOT NULL THEN 'running' END AS state,
               CASE WHEN c.fault IS NOT NULL THEN 'failed'
                    WHEN n.is_undecided THEN 'missed'
                    WHEN c.schedules = 0 THEN 'manual'
                    WHEN c.active = 0 THEN 'disabled'
                    WHEN c.look_at IS NOT NULL OR l.outcome = 'error' THEN 'failed'
                    WHEN l.outcome = 'missed' THEN 'missed'
                    WHEN l.status <> 'Completed' THEN 'failed'
                    WHEN c.next_at IS NULL AND c.following = 0 THEN 'never'
                    -- is true: without a last time it is NULL, and the rest would be evaluated
                    WHEN l.is_rule IS TRUE
                         AND l.decided_at - l.scheduled_for > COALESCE((l.schedule).grace, interval '1 minute')
                         AND l.decided_at - l.scheduled_for > lockstep.job_grace(l.schedule, l.scheduled_for)
                         AND NOT (j.is_watch AND EXISTS ( -- the report that a missed incident waited for ends it
                             SELECT FROM lockstep.job_alert a
                             WHERE a.job = j.name AND a.kind = 'missed' AND a.opened_at IS NOT NULL
                               AND a.since <= l.scheduled_for AND a.last_seen_at >= l.scheduled_for))
                        THEN 'late'
                    ELSE 'ok' END AS last_state
        FROM lockstep.job j
        LEFT JOIN lockstep.queue q USING (queue_id)
        LEFT JOIN lockstep.job_silence z USING (job_id)
        CROSS JOIN LATERAL (
            SELECT count(*) AS schedules, count(*) FILTER (WHERE s.is_active) AS active,
                   count(*) FILTER (WHERE s.after_job IS NOT NULL AND s.is_active) AS following,
                   min(s.next_at) FILTER (WHERE s.after_job IS NULL AND s.is_active) AS next_at,
                   max((s.look).at) FILTER (WHERE s.is_active AND (s.look).failures >= 3) AS look_at,
                   max((s.look).error) FILTER (WHERE s.is_active AND (s.look).failures >= 3) AS look_error,
                   min(s.failing_since) FILTER (WHERE s.is_active) AS failing_since,
                   min(format('schedule %s: %s', s.name, lockstep.rule_fault(s.rule))) FILTER (
                       WHERE s.is_active AND (s.rule).zone <> 'UTC'
                          AND lockstep.rule_fault(s.rule) IS NOT NULL) AS fault
            FROM lockstep.schedule s WHERE s.job_id = j.job_id) c
        LEFT JOIN LATERAL ( -- whose time it is, when that has passed; asked_at: since then its SQL runs
            SELECT m.schedule, m.name, m.is_over AND a.token IS NULL AS is_undecided, a.asked_at
            FROM (SELECT s AS schedule, s.schedule_id, s.name, s.asked_until,
                         s.next_at < clock_timestamp() - COALESCE(s.grace, interval '1 minute')
                         AND s.next_at < clock_timestamp() - lockstep.job_grace(s, s.next_at) AS is_over
                  FROM lockstep.schedule s
                  WHERE c.next_at < statement_timestamp() -- not volatile: decides before the scan
                        AND s.job_id = j.job_id AND s.next_at = c.next_at
                        AND s.is_active AND s.after_job IS NULL
                  ORDER BY s.schedule_id LIMIT 1) m
            LEFT JOIN lockstep.job_ask a
                   ON m.is_over AND a.schedule_id = m.schedule_id AND m.asked_until > clock_timestamp()) n ON true
        LEFT JOIN LATERAL (
            SELECT r.run_id, GREATEST(r.created_at, r.reopened_at) AS since,
                   r.first_offset IS NULL AND r.created_at < clock_timestamp() - interval '5 minutes'
                   AND lockstep.job_unclaimed(r.run_no, interval '5 minutes') AS is_unclaimed
            FROM lockstep.run r WHERE r.job_id = j.job_id AND r.ended_at IS NULL ORDER BY r.run_no LIMIT 1) o ON true
        LEFT JOIN LATERAL ( -- one that was decided in the future is of a clock that was set back
            SELECT b.outcome, b.source, b.run_id, b.status, b.reason, b.ended_at, b.scheduled_for, b.decided_at,
                   s AS schedule,
                   s.schedule_id IS NOT NULL AND s.after_job IS NULL AND (s.rows_rule).relation IS NULL
                   AND NOT lockstep.is_backfill(b.source) AS is_rule
            FROM lockstep.job_occurrence b LEFT JOIN lockstep.schedule s USING (schedule_id)
            WHERE b.job_id = j.job_id AND (b.status IS NOT NULL OR b.outcome IN ('error', 'missed'))
              AND b.decided_at <= clock_timestamp()
            ORDER BY b.scheduled_for DESC LIMIT 1) l ON true
        LEFT JOIN LATERAL ( -- when the last time has no run
            SELECT b.run_id, b.status
            FROM lockstep.job_occurrence b
            WHERE l.outcome <> 'fired' AND b.job_id = j.job_id AND b.status IS NOT NULL
              AND b.decided_at <= clock_timestamp()
            ORDER BY b.scheduled_for DESC LIMIT 1) f ON true
        LEFT JOIN LATERAL ( -- until its rows are swept
            SELECT r.error
            FROM lockstep.run r WHERE l.status <> 'Completed' AND r.run_id = l.run_id AND r.queue_id = j.queue_id) y
            ON true
        LEFT JOIN LATERAL (
            SELECT CASE WHEN j.max_expected IS NOT NULL THEN j.max_expected
                        WHEN count(*) >= 5 THEN 2 * percentile_disc(0.95) WITHIN GROUP (ORDER BY g.took)
                                                + interval '1 minute' END AS longest
            FROM (SELECT b.ended_at - b.decided_at AS took
                  FROM lockstep.job_occurrence b
                  WHERE o.run_id IS NOT NULL AND j.max_expected IS NULL AND b.job_id = j.job_id
                        AND b.status = 'Completed' AND NOT b.retried
                  ORDER BY b.scheduled_for DESC LIMIT 50) g) p ON true
        CROSS JOIN LATERAL (
            SELECT o.run_id IS NULL
                   OR EXISTS (SELECT FROM lockstep.executor x
                              WHERE x.ended_at IS NULL AND q.name = ANY (x.queues)
                                AND x.heartbeat_at > clock_timestamp()
                                    - GREATEST(x.frozen_after * 2, interval '30 seconds')) AS lives) e) h) h;
GRANT SELECT ON lockstep.job_health TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
