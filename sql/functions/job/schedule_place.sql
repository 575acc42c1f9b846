-- Where a schedule is in its job's spec, counted from 0; LS003: it has none of this name.
CREATE OR REPLACE FUNCTION lockstep.schedule_place(p_job lockstep.job, p_name text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    place CONSTANT int := (SELECT e.n - 1
                           FROM pg_catalog.jsonb_array_elements(
                               COALESCE(p_job.spec -> 'schedules', '[]')) WITH ORDINALITY AS e (value, n)
                           WHERE e.value ->> 'name' = p_name);
BEGIN
    IF place IS NULL THEN
        RAISE EXCEPTION 'job % has no schedule "%"', p_job.name, pg_catalog.left(p_name, 64) USING ERRCODE = 'LS003',
            HINT = pg_catalog.format('lockstep schedule list %s', p_job.name);
    END IF;
    RETURN place;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.schedule_place(lockstep.job, text) FROM PUBLIC;
