-- A schedule was changed or removed (p_what): its times that are due, and the one that waits for the end of a run, do
-- not fire, and their occurrences say so. The caller has locked the schedule's row.
CREATE OR REPLACE FUNCTION lockstep.job_dropped(p_schedule lockstep.schedule, p_what text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, outcome, source, reason, missed_from,
                                         missed_count, dispatcher)
    SELECT p_schedule.job_id, p_schedule.schedule_id, t.at, 'skipped', 'schedule ' || p_schedule.name,
           pg_catalog.format('the schedule was %s before it fired', p_what), t.missed_from, t.missed, SESSION_USER
    FROM (VALUES (p_schedule.queued_for, p_schedule.queued_missed_from, p_schedule.queued_missed),
                 (CASE WHEN p_schedule.is_active AND p_schedule.next_at <= pg_catalog.clock_timestamp()
                            AND (p_schedule.rows_rule).relation IS NULL
                           THEN p_schedule.next_at END,
                  NULL, 0)
          UNION ALL
          SELECT e.scheduled_for, NULL, 0 FROM lockstep.job_end e WHERE e.schedule_id = p_schedule.schedule_id)
        AS t (at, missed_from, missed)
    WHERE t.at IS NOT NULL
    ON CONFLICT (schedule_id, scheduled_for) DO NOTHING;
    DELETE FROM lockstep.job_end e WHERE e.schedule_id = p_schedule.schedule_id;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_dropped(lockstep.schedule, text) FROM PUBLIC;
