-- A trigger, as a user wrote it, as the rule that is stored. A trigger without a meaning, or one that would fail at
-- each look, is refused.
CREATE OR REPLACE FUNCTION lockstep.job_trigger(p_spec jsonb) RETURNS lockstep.rows_rule LANGUAGE plpgsql AS $$
DECLARE
    FIELDS CONSTANT text[] := '{on,pending,created_column,check_every,threshold,idle,new_rows,debounce,max_wait,'
                              'min_between,mark}';
    made lockstep.rows_rule;
    word text;
    relation record;
BEGIN
    IF pg_catalog.jsonb_typeof(p_spec) IS DISTINCT FROM 'object' THEN
        PERFORM lockstep.job_refuse('trigger', 'it is no JSON object',
                                    'write {"on": "public.staging", "pending": "batch IS NULL", "threshold": 1000}');
    END IF;
    SELECT k INTO word FROM pg_catalog.jsonb_object_keys(p_spec) AS k WHERE k <> ALL (FIELDS) ORDER BY k LIMIT 1;
    IF FOUND THEN
        PERFORM lockstep.job_refuse('trigger.' || pg_catalog.left(word, 100), 'a trigger has no such field',
                                    'it has ' || pg_catalog.array_to_string(FIELDS, ', '));
    END IF;
    SELECT k INTO word
    FROM pg_catalog.unnest('{on,pending,created_column,mark}'::text[]) AS k
    WHERE p_spec ? k AND (pg_catalog.jsonb_typeof(p_spec -> k) <> 'string' OR p_spec ->> k ~ '^\s*$') LIMIT 1;
    IF FOUND THEN
        PERFORM lockstep.job_refuse('trigger.' || word, 'it is no text, or empty',
                                    'write it as a text, or leave it out');
    ELSIF pg_catalog.strpos(p_spec ->> 'pending', ';') > 0 THEN
        PERFORM lockstep.job_refuse('trigger.pending', 'it has a semicolon',
                                    'write a condition on the rows: "batch IS NULL"; a semicolon in a text is chr(59)');
    ELSIF pg_catalog.jsonb_typeof(COALESCE(p_spec -> 'new_rows', 'true')) <> 'boolean' THEN
        PERFORM lockstep.job_refuse('trigger.new_rows', 'it is neither true nor false', 'write true or false');
    ELSIF p_spec ? 'threshold'
          AND (pg_catalog.jsonb_typeof(p_spec -> 'threshold') <> 'number'
               OR NOT (p_spec ->> 'threshold') ~ '^[0-9]{1,9}$' OR p_spec ->> 'threshold' ~ '^0+$') THEN
        PERFORM lockstep.job_refuse('trigger.threshold', 'it is no number of rows',
                                    'write a whole number from 1 to 999999999');
    ELSIF NOT (p_spec ? 'threshold' OR p_spec ? 'idle' OR COALESCE((p_spec ->> 'new_rows')::boolean, false)) THEN
        PERFORM lockstep.job_refuse('trigger', 'it has no condition',
                                    'write at least one of "threshold": 1000, "idle": "5m" and "new_rows": true');
    ELSIF NOT COALESCE((p_spec ->> 'new_rows')::boolean, false) AND (p_spec ? 'debounce' OR p_spec ? 'max_wait') THEN
        PERFORM lockstep.job_refuse('trigger.' || CASE WHEN p_spec ? 'debounce' THEN 'debounce' ELSE 'max_wait' END,
                                    'it belongs to "new_rows"', 'write "new_rows": true, or leave it out');
    ELSIF (p_spec ? 'idle' OR COALESCE((p_spec ->> 'new_rows')::boolean, false)) AND NOT p_spec ? 'created_column' THEN
        PERFORM lockstep.job_refuse('trigger.created_column', 'it is missing: idle and new_rows compare when rows came',
                                    'name the column with the time of each row');
    END IF;
    SELECT c.oid, c.relkind, pg_catalog.format('%I.%I', n.nspname, c.relname) AS name INTO relation
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = lockstep.job_relation(p_spec ->> 'on');
    IF NOT FOUND THEN
        PERFORM lockstep.job_refuse('trigger.on',
                                    pg_catalog.format(
                                        'there is no table or view %s',
                                        COALESCE(pg_catalog.quote_literal(pg_catalog.left(p_spec ->> 'on', 200)),
                                                 'without a name')),
                                    'write it with its schema: public.staging');
    ELSIF EXISTS (SELECT FROM pg_catalog.pg_roles l
                  WHERE l.rolcanlogin AND NOT l.rolsuper AND pg_catalog.pg_has_role(l.oid, 'lockstep_task', 'MEMBER'))
          AND NOT EXISTS (SELECT FROM pg_catalog.pg_roles l
                          WHERE l.rolcanlogin AND NOT l.rolsuper
                            AND pg_catalog.pg_has_role(l.oid, 'lockstep_task', 'MEMBER')
                            AND (pg_catalog.has_table_privilege(l.oid, relation.oid, 'SELECT')
                                 OR pg_catalog.has_any_column_privilege(l.oid, relation.oid, 'SELECT'))) THEN
        PERFORM lockstep.job_refuse('trigger.on',
                                    pg_catalog.format('no login that runs tasks may read %s', relation.name),
                                    pg_catalog.format('GRANT SELECT ON %s TO lockstep_task', relation.name));
    END IF;
    SELECT pg_catalog.quote_ident(a.attname) INTO made.created_column
    FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = relation.oid AND a.attname = p_spec ->> 'created_column' AND a.attnum > 0 AND NOT a.attisdropped
      AND a.atttypid IN ('timestamptz'::pg_catalog.regtype, 'timestamp'::pg_catalog.regtype,
                         'date'::pg_catalog.regtype);
    IF NOT FOUND AND p_spec ? 'created_column' THEN
        PERFORM lockstep.job_refuse('trigger.created_column',
                                    pg_catalog.format(
                                        '%s has no column %s of a type timestamp with or without time zone, or date',
                                        relation.name, pg_catalog.left(p_spec ->> 'created_column', 100)),
                                    'name the column with the time of each row');
    END IF;
    made.relation := relation.name;
    made.pending := COALESCE(p_spec ->> 'pending', 'true');
    made.check_every := pg_catalog.make_interval(secs => lockstep.rule_seconds(
                                                     'trigger.check_every', COALESCE(p_spec ->> 'check_every', '10s'),
                                                     1));
    made.threshold := (p_spec ->> 'threshold')::bigint;
    made.idle := CASE WHEN p_spec ? 'idle' THEN pg_catalog.make_interval(secs => lockstep.rule_seconds(
                                                                             'trigger.idle', p_spec ->> 'idle', 1)) END;
    IF COALESCE((p_spec ->> 'new_rows')::boolean, false) THEN
        made.debounce := pg_catalog.make_interval(secs => lockstep.rule_seconds(
                                                      'trigger.debounce', COALESCE(p_spec ->> 'debounce', '60s'), 0));
        made.max_wait := pg_catalog.make_interval(secs => lockstep.rule_seconds(
                                                      'trigger.max_wait', COALESCE(p_spec ->> 'max_wait', '1h'), 1));
    END IF;
    made.min_between := CASE WHEN p_spec ? 'min_between'
                                 THEN pg_catalog.make_interval(secs => lockstep.rule_seconds(
                                                                   'trigger.min_between', p_spec ->> 'min_between',
                                                                   1)) END;
    made.mark := p_spec ->> 'mark';
    RETURN made;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_trigger(jsonb) FROM PUBLIC;
