-- What a visitor of the console is shown of a text that may quote parameters or the content of a message: all of it if it may see payloads; else its SQLSTATE, or the part before the error,
-- which is Lockstep's own. p_what: `error` (of a task, an attempt, a look), `rejected` (a message's detail), the kind of an event, or anything else for a sentence that may end with an error.
CREATE OR REPLACE FUNCTION lockstep.shown(p_what text, p_text text, p_payloads boolean) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN p_payloads OR p_text IS NULL THEN p_text
        WHEN p_what IN ('error', 'task_failed', 'task_terminated') AND p_text !~ '^((cancelled|retried|declared (done|failed)) by |given up: )'
        THEN pg_catalog.concat(pg_catalog."substring"(p_text, '^[0-9A-Z]{5}: '), h.words)
        WHEN p_what = 'rejected' THEN h.words
        WHEN p_what = 'message_rejected' THEN pg_catalog.regexp_replace(p_text, '^(offset [0-9]+: [^:]*: ).*$', '\1' || h.words)
        ELSE pg_catalog.regexp_replace(
            pg_catalog.regexp_replace(p_text, '(attempt [0-9]+ of task .* failed \()([0-9A-Z]{5}: )?.*(\); the next one is due in )', '\1\2' || h.words || '\3'),
            '(task [0-9]+( ".*")? of order -?[0-9]+ (failed|is [A-Z][a-z]+): ([0-9A-Z]{5}: )?).*$', '\1' || h.words) END
    FROM (SELECT 'the text is hidden: it may quote parameters') AS h (words)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.shown(text, text, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.shown(text, text, boolean) TO lockstep_operator, lockstep_monitor;
