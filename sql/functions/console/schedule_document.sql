-- A schedule as the API has it, and if p_words when it fires, in words, which takes longer than all else.
CREATE OR REPLACE FUNCTION lockstep.schedule_document(p_schedule_id int, p_words boolean) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.json_build_object(
               'job', j.name, 'schedule', s.name, 'kind', s.spec ->> 'kind', 'expr', s.spec ->> 'expr',
               'zone', (s.rule).zone,
               'rule', s.spec - '{name,kind,enabled,misfire,catchup_window,jitter,grace}'::text[],
               'words', CASE WHEN p_words THEN lockstep.schedule_words(s.schedule_id) END, 'enabled', s.is_active,
               'next_at', s.next_at, 'misfire', s.misfire, 'catchup_window_s', lockstep.seconds(s.catchup_window),
               'jitter_s', lockstep.seconds(s.jitter), 'grace_s', lockstep.seconds(s.grace), 'waits_for', s.queued_for)
    FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE s.schedule_id = p_schedule_id
$$;
REVOKE EXECUTE ON FUNCTION lockstep.schedule_document(int, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.schedule_document(int, boolean) TO lockstep_operator, lockstep_monitor;
