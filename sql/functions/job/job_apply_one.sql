-- Applies one declaration of a file to one job, and says with which action: create, change, unchanged, or kept (another
-- file declares the job in another way, or it was changed by hand). A job that is kept is checked like one that is
-- changed. A job that is already what the file says gets no new version: it only becomes a job of that file.
CREATE OR REPLACE FUNCTION lockstep.job_apply_one(
    p_spec jsonb, p_file text, p_force boolean, OUT action text, OUT detail text)
LANGUAGE plpgsql AS $$
DECLARE
    old lockstep.job;
BEGIN
    PERFORM lockstep.job_check(p_spec);
    p_spec := lockstep.job_normal(p_spec);
    SELECT j.* INTO old FROM lockstep.job j WHERE j.name = p_spec ->> 'job' FOR NO KEY UPDATE;
    IF NOT FOUND OR old.version = 0 THEN -- 0: job_apply has made only its row
        action := 'create';
    ELSIF old.spec = p_spec THEN
        action := CASE WHEN old.file = p_file THEN 'unchanged' ELSE 'change' END;
        detail := CASE action WHEN 'change' THEN 'declared by this file from now on' END;
        UPDATE lockstep.job j SET file = p_file, declared = p_spec -- a change by hand may be in the file now
        WHERE j.job_id = old.job_id AND (j.file, j.declared) IS DISTINCT FROM (p_file, p_spec);
        RETURN;
    ELSIF NOT p_force AND old.file <> p_file THEN
        action := 'kept';
        detail := pg_catalog.format('%s declares it; an apply with force takes it over',
                                    CASE old.file WHEN '-' THEN 'the standard input' ELSE old.file END);
    ELSIF NOT p_force AND old.declared IS DISTINCT FROM old.spec THEN
        action := 'kept';
        detail := pg_catalog.format('%s by %s at %s; an apply with force sets it to what the file says',
                                    CASE WHEN old.declared IS NULL THEN 'made by hand' ELSE 'changed by hand' END,
                                    old.changed_by, lockstep.job_time(pg_catalog.date_trunc('second', old.changed_at)));
    ELSE
        action := 'change';
        detail := (SELECT pg_catalog.string_agg(k, ', ' ORDER BY k)
                   FROM pg_catalog.jsonb_object_keys(old.spec || p_spec) AS k
                   WHERE old.spec -> k IS DISTINCT FROM p_spec -> k);
    END IF;
    PERFORM lockstep.job_save(p_spec, NULL, p_file);
    IF action = 'kept' THEN
        RAISE EXCEPTION 'checked only' USING ERRCODE = 'LS00D';
    END IF;
EXCEPTION
    WHEN SQLSTATE 'LS00D' THEN
        NULL; -- undone
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_apply_one(jsonb, text, boolean) FROM PUBLIC;
