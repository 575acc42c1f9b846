-- Refuses a definition that is no job, each fault with its field and with the text to write instead. The rules for one
-- task, and for one schedule, are checked where these are made.
CREATE OR REPLACE FUNCTION lockstep.job_check(p_spec jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    FIELDS CONSTANT text[] := '{job,queue,description,enabled,overlap,zombie_after,max_runtime,max_expected,defaults,'
                              'tasks,query,schedules,trigger,watch}';
    WORDS CONSTANT text[] := '{scheduled_at,fired_at,run,job,schedule,source,rows,previous_scheduled_at,'
                             'last_success_at}';
    WORK CONSTANT text[] := '{queue,tasks,query,trigger,defaults,overlap,max_runtime,max_expected,zombie_after}';
    is_watch CONSTANT boolean := COALESCE(p_spec -> 'watch' = 'true', false);
    word text;
BEGIN
    IF pg_catalog.jsonb_typeof(p_spec) IS DISTINCT FROM 'object' THEN
        PERFORM lockstep.job_refuse(
            'job', 'it is no JSON object',
            'write {"job": "nightly", "queue": "sales", "tasks": [{"order": 100, "sql": "CALL load()"}]}');
    END IF;
    SELECT k INTO word FROM pg_catalog.jsonb_object_keys(p_spec) AS k WHERE k <> ALL (FIELDS) ORDER BY k LIMIT 1;
    IF FOUND THEN
        PERFORM lockstep.job_refuse(pg_catalog.left(word, 100), 'a job has no such field',
                                    'it has ' || pg_catalog.array_to_string(FIELDS, ', '));
    ELSIF COALESCE(p_spec ->> 'job', '') !~ '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$' THEN
        PERFORM lockstep.job_refuse(
            'job', pg_catalog.format('"%s" is no name of a job', pg_catalog.left(p_spec ->> 'job', 100)),
            'write 1 to 63 letters, digits, dots, hyphens or underscores, in ASCII, the first no dot or hyphen');
    ELSIF pg_catalog.jsonb_typeof(COALESCE(p_spec -> 'watch', 'true')) <> 'boolean' THEN
        PERFORM lockstep.job_refuse('watch', 'it is neither true nor false',
                                    'write true for what is done elsewhere and reports with lockstep.ping');
    ELSIF is_watch AND p_spec ?| WORK THEN
        PERFORM lockstep.job_refuse('watch', 'what is done elsewhere has neither queue nor tasks',
                                    'leave out ' || pg_catalog.array_to_string(WORK, ', '));
    ELSIF is_watch AND COALESCE(p_spec -> 'schedules', '[]') = '[]' THEN
        PERFORM lockstep.job_refuse('schedules', 'a watch is expected at its times, and it has none',
                                    'write at least one schedule');
    ELSIF NOT is_watch AND pg_catalog.jsonb_typeof(p_spec -> 'queue') IS DISTINCT FROM 'string' THEN
        PERFORM lockstep.job_refuse('queue', 'it is missing',
                                    'write the name of the queue that runs it; lockstep queue list has them');
    ELSIF NOT is_watch AND NOT EXISTS (SELECT FROM lockstep.queue q WHERE q.name = p_spec ->> 'queue') THEN
        RAISE EXCEPTION 'there is no queue %', pg_catalog.left(p_spec ->> 'queue', 200)
            USING ERRCODE = 'LS003', HINT = 'lockstep queue list';
    ELSIF pg_catalog.jsonb_typeof(COALESCE(p_spec -> 'enabled', 'true')) <> 'boolean' THEN
        PERFORM lockstep.job_refuse('enabled', 'it is neither true nor false', 'write true or false');
    ELSIF COALESCE(p_spec ->> 'overlap', 'skip') NOT IN ('skip', 'queue_one', 'allow', 'cancel') THEN
        PERFORM lockstep.job_refuse('overlap',
                                    pg_catalog.format('"%s" is not known', pg_catalog.left(p_spec ->> 'overlap', 64)),
                                    'write skip, queue_one, allow or cancel');
    ELSIF pg_catalog.jsonb_typeof(COALESCE(p_spec -> 'description', '""')) <> 'string'
          OR pg_catalog.octet_length(p_spec ->> 'description') > 4000 THEN
        PERFORM lockstep.job_refuse('description', 'it is no text of at most 4000 bytes', 'write a text');
    ELSIF pg_catalog.jsonb_typeof(COALESCE(p_spec -> 'defaults', '{}')) <> 'object' THEN
        PERFORM lockstep.job_refuse('defaults', 'it is no JSON object',
                                    'write the parameters and their values: {"region": "eu"}');
    END IF;
    SELECT k INTO word
    FROM pg_catalog.jsonb_object_keys(COALESCE(p_spec -> 'defaults', '{}')) AS k
    WHERE k = ANY (WORDS) OR k !~ '^[A-Za-z_][A-Za-z0-9_]{0,62}$' LIMIT 1;
    IF FOUND THEN
        PERFORM lockstep.job_refuse('defaults.' || pg_catalog.left(word, 64), 'it cannot be the name of a parameter',
                                    CASE WHEN word = ANY (WORDS) THEN 'it has a meaning already: take another name'
                                         ELSE 'write letters, digits and underscores' END);
    ELSIF p_spec ? 'query'
          AND (pg_catalog.jsonb_typeof(p_spec -> 'query') <> 'string'
               OR pg_catalog.btrim(p_spec ->> 'query', E' \t\r\n') = '') THEN
        PERFORM lockstep.job_refuse(
            'query', 'it is no statement',
            'write a SELECT that returns staged tasks: "SELECT 100 AS \"order\", ''CALL load()'' AS sql"');
    ELSIF p_spec ? 'query' AND p_spec ? 'tasks' THEN
        PERFORM lockstep.job_refuse('query', 'the tasks come from it, and the job has "tasks", too',
                                    'leave out one of them');
    ELSIF p_spec ? 'trigger' AND COALESCE(p_spec -> 'schedules', '[]') <> '[]' THEN
        PERFORM lockstep.job_refuse('trigger', 'a job fires when rows wait, or at times',
                                    'leave out "schedules" or "trigger", or make two jobs');
    ELSIF p_spec ? 'trigger' AND p_spec ->> 'overlap' = 'cancel' THEN
        PERFORM lockstep.job_refuse(
            'overlap', 'a trigger cancels no run: the rows that wait may be those that the run is at work on',
            'write skip: they wait for its end');
    ELSIF NOT is_watch AND NOT p_spec ? 'query'
          AND (pg_catalog.jsonb_typeof(p_spec -> 'tasks') IS DISTINCT FROM 'array'
               OR pg_catalog.jsonb_array_length(p_spec -> 'tasks') NOT BETWEEN 1 AND 100000) THEN
        PERFORM lockstep.job_refuse('tasks', 'it is no list of 1 to 100000 tasks',
                                    'write [{"order": 100, "sql": "SELECT 1"}]');
    ELSIF pg_catalog.jsonb_typeof(COALESCE(p_spec -> 'schedules', '[]')) <> 'array'
          OR pg_catalog.jsonb_array_length(COALESCE(p_spec -> 'schedules', '[]')) > 100 THEN
        PERFORM lockstep.job_refuse(
            'schedules', 'it is no list of at most 100 schedules',
            'write [{"name": "nightly", "kind": "cron", "expr": "0 2 * * *", "zone": "Europe/Warsaw"}]');
    ELSIF pg_catalog.octet_length(p_spec::text) > 16 * 1024 * 1024 THEN
        PERFORM lockstep.job_refuse('job', 'it has more than 16 MiB', 'publish the tasks with lockstep publish');
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_check(jsonb) FROM PUBLIC;
