-- One reason with its remedy from the table of reasons. names: pairs of a word of the text and its value. All words are
-- replaced at once, so a value may contain another word. For a queue that is named there are also MORE (readers) and
-- FARTHER (lookahead); at the most that is allowed, that remedy is left out. With a pair for PIPED, the run was read
-- from a pipe.
CREATE OR REPLACE FUNCTION lockstep.explain_row(
    p_reason text, p_sentence text, p_about text, p_since timestamptz, p_names text[] DEFAULT '{}')
RETURNS lockstep.explanation LANGUAGE plpgsql STABLE AS $$
DECLARE
    made lockstep.explanation;
    known text[] := p_names;
    bound record;
BEGIN
    SELECT w.helps INTO STRICT made.helps FROM lockstep.wait_reason w WHERE w.reason = p_reason;
    IF 'PIPED' = ANY (p_names) THEN -- a pipe is not read a second time
        made.helps := pg_catalog.replace(made.helps, '--resume RUN', '--resume RUN FILE');
        made.helps := pg_catalog.replace(made.helps, 'To continue it:',
                                         'To continue it from a file that has a copy of what was piped:');
    END IF;
    IF made.helps ~ '\m(MORE|FARTHER)\M' THEN
        SELECT q.max_readers, q.lookahead INTO bound
        FROM lockstep.queue q WHERE q.name = p_names[pg_catalog.array_position(p_names, 'QUEUE') + 1];
        IF FOUND THEN
            known := known || ARRAY['MORE', LEAST(2 * bound.max_readers, 1000)::text,
                                    'FARTHER', LEAST(2 * bound.lookahead, 1000)::text];
        END IF;
        -- without a queue both are NULL
        IF (CASE WHEN made.helps ~ '\mMORE\M' THEN bound.max_readers ELSE bound.lookahead END) >= 1000 THEN
            made.helps := pg_catalog.regexp_replace(made.helps,
                                                    ' To (let|claim) more [^:]*: [^.]*(MORE|FARTHER)\.?', '');
        END IF;
    END IF;
    SELECT pg_catalog.string_agg(
               COALESCE((SELECT known[2 * i] FROM pg_catalog.generate_series(1, pg_catalog.cardinality(known) / 2) AS i
                         WHERE known[2 * i - 1] = m.piece[1] AND known[2 * i] IS NOT NULL ORDER BY i DESC LIMIT 1),
                        m.piece[1]),
               '' ORDER BY m.n)
    INTO made.helps
    FROM pg_catalog.regexp_matches(made.helps, '[A-Z]+|[^A-Z]+', 'g') WITH ORDINALITY AS m (piece, n);
    made.reason := p_reason;
    made.sentence := p_sentence;
    made.about := p_about;
    made.since := p_since;
    RETURN made;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_row(text, text, text, timestamptz, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_row(text, text, text, timestamptz, text[])
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
