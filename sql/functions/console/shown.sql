-- The part of a text that a visitor of the console may see. The text may quote parameters or the content of a message:
-- a visitor who may see payloads gets all of it; others its SQLSTATE, or the part before the error, which is Lockstep's
-- own. p_what: `error` (of a task, an attempt, a look), `rejected` (a message's detail), the kind of an event, `job
-- KIND` of a line of a job's log, of an outcome, of a state or an incident, or anything else for a sentence that may
-- end with an error. One expression without a stable function (concat is one), so that the planner puts it into the
-- statement: a call for each of 10,001 rows took six times as long.
CREATE OR REPLACE FUNCTION lockstep.shown(
    p_what text, p_text text, p_payloads boolean, p_words text DEFAULT 'the text is hidden: it may quote parameters')
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_payloads OR p_text IS NULL THEN p_text
                WHEN p_what IN ('error', 'task_failed', 'task_terminated')
                     AND p_text !~ '^((cancelled|retried|declared (done|failed)) by |given up: )'
                    THEN COALESCE(pg_catalog."substring"(p_text, '^[0-9A-Z]{5}: '), '') || p_words
                WHEN p_what IN ('job error', 'job failed') OR (p_what = 'job alert' AND p_text LIKE 'failed: %') THEN
                    CASE WHEN p_text
                                  ~
                                  '^(failed: )?(run [0-9a-f-]{36} is [A-Za-z]+|the run is [^:]*(: it is longer than '
                                  '.*)?|it has reported a failure)$'
                             THEN p_text
                         WHEN p_text ~ '^(failed: )?run [0-9a-f-]{36} is [A-Za-z]+: ' -- and the reason of the run
                             THEN pg_catalog.regexp_replace(
                                 p_text,
                                 '(task [0-9]+( ".*")? of order -?[0-9]+ (failed|is [A-Z][a-z]+): ([0-9A-Z]{5}: )?).*$',
                                 '\1' || p_words)
                         ELSE COALESCE(pg_catalog."substring"(
                                           p_text, '^(?:failed: )?(?:(?:trigger|schedule [^:]*): )?(?:[0-9A-Z]{5}: )?'),
                                       '')
                              || p_words END
                WHEN p_what LIKE 'job %' THEN p_text
                WHEN p_what = 'alert_opened' AND p_text ~ ': alert [0-9]+: failed: '
                     AND p_text !~ ('^job [^:]*: alert [0-9]+: failed: run [0-9a-f-]{36} is [A-Za-z]+: |'
                                    ': alert [0-9]+: failed: (run [0-9a-f-]{36} is [A-Za-z]+|it has reported a '
                                    'failure)$')
                    THEN pg_catalog.regexp_replace(p_text, '^(job .*?: alert [0-9]+: failed: ).*$', '\1' || p_words)
                WHEN p_what = 'rejected' THEN p_words
                WHEN p_what = 'message_rejected'
                    THEN pg_catalog.regexp_replace(p_text, '^(offset [0-9]+: [^:]*: ).*$', '\1' || p_words)
                ELSE pg_catalog.regexp_replace(
                    pg_catalog.regexp_replace(
                        p_text, '(attempt [0-9]+ of task .* failed \()([0-9A-Z]{5}: )?.*(\); the next one is due in )',
                        '\1\2' || p_words || '\3'),
                    '(task [0-9]+( ".*")? of order -?[0-9]+ (failed|is [A-Z][a-z]+): ([0-9A-Z]{5}: )?).*$',
                    '\1' || p_words) END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.shown(text, text, boolean, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.shown(text, text, boolean, text) TO lockstep_operator, lockstep_monitor;
