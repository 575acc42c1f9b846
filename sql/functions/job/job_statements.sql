-- The statements of users in jobs that are about to be saved, as they will run: the caller has each checked as the
-- tasks' login (lockstep.ask_check). makes_tasks: its rows become tasks.
CREATE OR REPLACE FUNCTION lockstep.job_statements(p_specs jsonb)
RETURNS TABLE (job text, field text, statement text, words jsonb, makes_tasks boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    own lockstep.job;
    given jsonb;
BEGIN
    FOR own.spec IN
        SELECT e
        FROM jsonb_array_elements(p_specs) AS e WHERE jsonb_typeof(e) = 'object' AND (e ? 'query' OR e ? 'trigger')
    LOOP
        PERFORM lockstep.job_check(own.spec);
        own.name := own.spec ->> 'job';
        given := lockstep.job_words(own, 'trigger', 'try', gen_random_uuid(), now(), now(), NULL);
        RETURN QUERY
        SELECT own.name, s.field, s.statement, given, s.field = 'query'
        FROM (VALUES ('trigger.pending',
                      CASE WHEN own.spec ? 'trigger'
                               THEN lockstep.job_look_text(lockstep.job_trigger(own.spec -> 'trigger')) END),
                     ('trigger.mark', lockstep.job_bind('trigger.mark', own.spec #>> '{trigger,mark}', given)),
                     ('query',
                      format(E'SELECT * FROM (%s\n) AS q',
                             NULLIF(lockstep.job_bind('query', own.spec ->> 'query', given), ''))))
            AS s (field, statement)
        WHERE s.statement IS NOT NULL AND (s.field <> 'query' OR own.spec ? 'query');
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_statements(jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_statements(jsonb) TO lockstep_operator;
