-- The trouble that living executors of a queue report with their heartbeats, for explain_executors: no login for the
-- tasks or for some of their readers, no Kafka, no space for their rows, or that they cannot read the topic of this
-- queue.
CREATE OR REPLACE FUNCTION lockstep.explain_trouble(p_queue text, p_about text, p_names text[])
RETURNS SETOF lockstep.explanation LANGUAGE plpgsql AS $$
DECLARE
    made lockstep.explanation;
    granting text;
    now timestamptz := pg_catalog.clock_timestamp();
BEGIN
    FOR made IN
        SELECT e.*
        FROM (SELECT x.*
              FROM lockstep.executor x
              WHERE x.ended_at IS NULL AND p_queue = ANY (x.queues) AND x.trouble IS NOT NULL OFFSET 0) AS b
        CROSS JOIN LATERAL lockstep.explain_row(
            CASE b.trouble_kind WHEN 'login' THEN 'executor_without_login' WHEN 'readers' THEN 'readers_cut_off'
                                WHEN 'writes' THEN 'queue_set_aside' ELSE 'executor_cut_off' END,
            pg_catalog.format('executor %s on %s (pid %s) cannot %s for %s: %s', b.executor_id, b.host, b.pid,
                              CASE b.trouble_kind WHEN 'login' THEN 'open sessions for its tasks'
                                                  WHEN 'readers' THEN 'open sessions for some of its readers'
                                                  WHEN 'writes' THEN 'write to the database'
                                                  ELSE 'reach Kafka' END,
                              lockstep.explain_words(now - b.trouble_at), b.trouble),
            p_about, b.trouble_at, p_names || ARRAY['HOST', b.host]) AS e
        WHERE lockstep.executor_lives(b.executor_no)
        UNION ALL
        SELECT e.*
        FROM (SELECT x.*, x.queue_trouble[t.place] AS topic_trouble, x.queue_trouble_at[t.place] AS topic_trouble_at
              FROM lockstep.executor x
              CROSS JOIN LATERAL (SELECT pg_catalog.array_position(x.queues, p_queue) AS place) AS t
              WHERE x.ended_at IS NULL AND p_queue = ANY (x.queues) AND x.queue_trouble[t.place] IS NOT NULL
                AND x.trouble_kind IS DISTINCT FROM 'kafka' OFFSET 0) AS b
        CROSS JOIN LATERAL lockstep.explain_row(
            'topic_unreadable',
            pg_catalog.format('executor %s on %s (pid %s) cannot read the topic of %s for %s: %s', b.executor_id,
                              b.host, b.pid, p_about, lockstep.explain_words(now - b.topic_trouble_at),
                              b.topic_trouble),
            p_about, b.topic_trouble_at, p_names || ARRAY['HOST', b.host]) AS e
        WHERE lockstep.executor_lives(b.executor_no)
    LOOP
        -- a missing right is named with the statement that grants it
        granting := pg_catalog.substring(made.sentence, '\. (GRANT [^;]+);$');
        IF granting IS NOT NULL THEN
            made.sentence := pg_catalog.replace(made.sentence, '. ' || granting || ';', '');
            made.helps := granting || '; the executor continues by itself';
        END IF;
        made.helps := COALESCE(lockstep.explain_lacks(made.sentence), made.helps);
        RETURN NEXT made;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_trouble(text, text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_trouble(text, text, text[])
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
