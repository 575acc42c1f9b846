-- Refuses a staged task that is visibly wrong. Errors that only the parser of messages finds (task/message.c) are
-- refused by the relay: then the run is Failed, with the reason.
CREATE OR REPLACE FUNCTION lockstep.enqueue_check(p_task jsonb, p_number bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    wrong text;
    kinds int;
    of_type text;
    alien text;
    o numeric;
BEGIN
    IF pg_catalog.jsonb_typeof(p_task) IS DISTINCT FROM 'object' THEN
        wrong := 'it is no JSON object';
    ELSE
        of_type := COALESCE(p_task ->> 'type', CASE WHEN p_task ? 'command' THEN 'command'
                                                    WHEN p_task ? 'url' THEN 'http' ELSE 'sql' END);
        SELECT (pg_catalog.array_agg(
                    CASE WHEN f.field IS NOT NULL
                             THEN pg_catalog.format('"%s" is %s, not %s', e.key, pg_catalog.jsonb_typeof(e.value),
                                                    pg_catalog.array_to_string(f.types, ' or '))
                         WHEN e.key IN ('run', 'seq', 'previous_order')
                             THEN pg_catalog.format('"%s" is not for you to give: it is computed', e.key)
                         ELSE pg_catalog.format('there is no field "%s"', pg_catalog."left"(e.key, 100)) END
                    ORDER BY e.key)
                FILTER (WHERE NOT COALESCE(pg_catalog.jsonb_typeof(e.value) = ANY (f.types), false)))[1],
               pg_catalog.min(f.field) FILTER (WHERE of_type <> ALL (f.tasks))
        INTO wrong, alien
        FROM pg_catalog.jsonb_each(p_task) AS e LEFT JOIN lockstep.enqueue_fields() AS f ON f.field = e.key;
    END IF;
    IF wrong IS NULL THEN
        o := (p_task ->> 'order')::numeric;
        kinds := (p_task ? 'sql')::int + (p_task ? 'command')::int + (p_task ? 'url')::int + (p_task ? 'steps')::int
                 + COALESCE(p_task ->> 'type' = 'external', false)::int;
        wrong := CASE WHEN o IS NULL THEN 'it has no "order"'
                      WHEN o < 1 OR o > 9223372036854775807 OR pg_catalog.scale(o) > 0
                          THEN '"order" is no whole number from 1 to 9223372036854775807 in plain digits'
                      WHEN p_task ->> 'type' NOT IN ('sql', 'command', 'http', 'external')
                          THEN '"type" is none of sql, command, http, external'
                      WHEN kinds = 0
                          THEN 'there is nothing to do: one of "sql", "command", "url", "steps", or "type": "external"'
                      WHEN kinds > 1
                          THEN 'there is more than one thing to do: one of "sql", "command", "url", "steps", or '
                               '"type": "external"'
                      WHEN alien IS NOT NULL
                          THEN pg_catalog.format('"%s" does not belong to a task of type %s', alien, of_type)
                      WHEN pg_catalog.btrim(COALESCE(p_task ->> 'sql', p_task ->> 'command', p_task ->> 'url', 'x'),
                                            E' \t\r\n') = ''
                          THEN 'what is to be done is empty'
                      WHEN pg_catalog.jsonb_typeof(p_task -> 'sql') = 'array'
                           AND (p_task -> 'sql' = '[]'
                                OR EXISTS (SELECT FROM pg_catalog.jsonb_array_elements(p_task -> 'sql') AS s
                                           WHERE pg_catalog.jsonb_typeof(s) <> 'string'
                                              OR pg_catalog.btrim(s #>> '{}', E' \t\r\n') = ''))
                          THEN '"sql" is no list of statements'
                      WHEN p_task -> 'steps' = '[]'
                           OR EXISTS (SELECT FROM pg_catalog.jsonb_array_elements(p_task -> 'steps') AS s
                                    WHERE pg_catalog.jsonb_typeof(s) <> 'object')
                          THEN '"steps" is no list of steps'
                      WHEN p_task ? 'params' AND NOT p_task ? 'sql' THEN '"params" without "sql"'
                      WHEN (p_task ->> 'max_attempts')::numeric NOT BETWEEN 1 AND 1000
                           OR (p_task ->> 'max_attempts')::numeric <> pg_catalog.trunc(
                               (p_task ->> 'max_attempts')::numeric)
                          THEN '"max_attempts" is no whole number from 1 to 1000'
                      WHEN p_task -> 'retry_intervals' = '[]'
                           OR pg_catalog.jsonb_array_length(p_task -> 'retry_intervals') > 100
                           OR EXISTS (SELECT FROM pg_catalog.jsonb_array_elements(p_task -> 'retry_intervals') AS i
                                      WHERE CASE WHEN pg_catalog.jsonb_typeof(i) = 'number'
                                                     THEN i::numeric NOT BETWEEN 0 AND 1000000000
                                                 ELSE true END)
                          THEN '"retry_intervals" is no list of 1 to 100 numbers of seconds'
                      WHEN p_task -> 'retry_on' = '[]'
                           OR pg_catalog.jsonb_array_length(p_task -> 'retry_on') > 100
                           OR EXISTS (SELECT FROM pg_catalog.jsonb_array_elements(p_task -> 'retry_on') AS c
                                      WHERE pg_catalog.jsonb_typeof(c) <> 'string'
                                         OR c #>> '{}' !~ '^-?(all|[0-9A-Z]{5}|[0-9A-Z]{2})$')
                          THEN '"retry_on" is no list of 1 to 100 SQLSTATE classes (40), codes (40001) or all, with - '
                               'before an error that is not retried'
                      WHEN p_task ->> 'kind' IN ('sql', 'command', 'http', 'external', 'end')
                          THEN '"kind" is the name of a type'
                      WHEN pg_catalog.length(p_task ->> 'kind') NOT BETWEEN 1 AND 200
                          THEN '"kind" is not of 1 to 200 characters'
                      WHEN (p_task ->> 'timeout')::numeric NOT BETWEEN 0.001 AND 1000000000
                          THEN '"timeout" is not from 0.001 to 1000000000 s'
                      WHEN p_task ->> 'not_before' !~ '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt]'
                               '([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)'
                          THEN '"not_before" is no time of RFC 3339'
                      WHEN p_task ->> 'condition' NOT IN ('success', 'always', 'failure')
                          THEN '"condition" is none of success, always, failure'
                      WHEN pg_catalog.length(p_task ->> 'name') > 1000 THEN '"name" is longer than 1000 characters'
                      WHEN pg_catalog.length(p_task ->> 'description') > 10000
                          THEN '"description" is longer than 10000 characters'
                      WHEN pg_catalog.octet_length(p_task ->> 'key') > 1000 THEN '"key" is longer than 1000 bytes'
                      WHEN p_task ->> 'key' = '' THEN '"key" is empty'
                      WHEN pg_catalog.octet_length(p_task::text) > 999872 THEN pg_catalog.format(
                          'it has %s bytes, 999872 are allowed', pg_catalog.octet_length(p_task::text)) END;
    END IF;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'task %: %', p_number, wrong
            USING ERRCODE = 'invalid_parameter_value', DETAIL = COALESCE(pg_catalog."left"(p_task::text, 300), 'NULL'),
                  HINT = 'See docs/reference/message.md for the fields.';
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.enqueue_check(jsonb, bigint) FROM PUBLIC;
