-- One reason, with what helps from the table of reasons; names: pairs of a word that stands there and what it stands for.
CREATE OR REPLACE FUNCTION lockstep.explain_row(p_reason text, p_sentence text, p_about text, p_since timestamptz, p_names text[] DEFAULT '{}')
RETURNS lockstep.explanation LANGUAGE plpgsql STABLE AS $$
DECLARE
    made lockstep.explanation;
BEGIN
    SELECT w.helps INTO STRICT made.helps FROM lockstep.wait_reason w WHERE w.reason = p_reason;
    FOR i IN 1 .. pg_catalog.cardinality(p_names) / 2 LOOP
        made.helps := pg_catalog.replace(made.helps, p_names[2 * i - 1], COALESCE(p_names[2 * i], p_names[2 * i - 1]));
    END LOOP;
    made.reason := p_reason;
    made.sentence := p_sentence;
    made.about := p_about;
    made.since := p_since;
    RETURN made;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_row(text, text, text, timestamptz, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_row(text, text, text, timestamptz, text[]) TO lockstep_executor, lockstep_operator, lockstep_monitor;
