-- Why a run cannot be made of these rows of a job's query, as a firing would refuse it; NULL: it can.
CREATE OR REPLACE FUNCTION lockstep.job_rows_fault(p_rows jsonb[]) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    fault text;
BEGIN
    IF pg_catalog.cardinality(p_rows) > 100000 THEN
        RETURN 'the query returns more than 100000 tasks';
    END IF;
    PERFORM lockstep.enqueue_check(t.task, t.n)
    FROM pg_catalog.unnest(lockstep.job_rows(p_rows)) WITH ORDINALITY AS t (task, n);
    RETURN NULL;
EXCEPTION
    WHEN data_exception THEN
        GET STACKED DIAGNOSTICS fault = MESSAGE_TEXT;
        RETURN fault;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_rows_fault(jsonb[]) FROM PUBLIC;
