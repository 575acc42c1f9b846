-- Checks the members of a queue's policy that the API may change: the document itself, or an error that names the
-- member.
CREATE OR REPLACE FUNCTION lockstep.queue_policy(policy json) RETURNS json LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    wrong text;
BEGIN
    SELECT pg_catalog.format('%s: %s', m.key,
                             CASE m.key WHEN 'on_failure' THEN 'it is stop, continue or pause'
                                  WHEN 'runs' THEN 'it is serial or concurrent'
                                  WHEN 'max_attempts' THEN 'it is a whole number from 1 to 1000'
                                  WHEN 'lookahead' THEN 'it is a whole number from 1 to 1000'
                                  ELSE 'a policy has no such member' END)
    INTO wrong
    FROM pg_catalog.json_each(policy) AS m
    WHERE NOT COALESCE(CASE m.key WHEN 'on_failure' THEN policy ->> m.key IN ('stop', 'continue', 'pause')
                            WHEN 'runs' THEN policy ->> m.key IN ('serial', 'concurrent')
                            WHEN 'max_attempts' THEN policy ->> m.key ~ '^([1-9][0-9]{0,2}|1000)$'
                            WHEN 'lookahead' THEN policy ->> m.key ~ '^([1-9][0-9]{0,2}|1000)$' END,
                       false)
    LIMIT 1;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '%', wrong
            USING ERRCODE = '22023',
                  HINT = 'Name one of on_failure, runs, max_attempts and lookahead; lockstep queue set changes the '
                         'rest.';
    END IF;
    RETURN policy;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.queue_policy(json) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.queue_policy(json) TO lockstep_operator;
