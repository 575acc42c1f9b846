-- Makes the jobs that a file declares: all of them or none. file: its name, by which its jobs are known the next time.
-- A job that was changed by hand since is kept and reported, unless force; prune deletes jobs that the file declared
-- before and does not declare any more, except those of elsewhere, which other files declare; dry_run only reports.
-- Jobs may follow others that come after them.
CREATE OR REPLACE FUNCTION lockstep.job_apply(
    specs jsonb, file text, dry_run boolean DEFAULT false, prune boolean DEFAULT false, force boolean DEFAULT false,
    elsewhere text[] DEFAULT NULL)
RETURNS TABLE (job text, action text, detail text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    done jsonb := '[]';
    stays text[]; -- the jobs that prune leaves, because a file declares them
    one record;
    said record;
    about text; -- the job of a file of several, as an error names it
    message text;
    hint text;
BEGIN
    IF jsonb_typeof(job_apply.specs) IS DISTINCT FROM 'array' THEN
        PERFORM lockstep.job_refuse('jobs', 'it is no list of jobs',
                                    'write [{"job": "nightly", "queue": "sales", "tasks": [...]}]');
    END IF;
    IF job_apply.prune AND job_apply.file = '-' THEN
        PERFORM lockstep.job_refuse('prune', 'all pipes have one name, so it would delete the jobs of others',
                                    'write the jobs to a file, and apply it with its name');
    END IF;
    SELECT e ->> 'job' AS name INTO one
    FROM jsonb_array_elements(job_apply.specs) AS e GROUP BY 1 HAVING count(*) > 1 LIMIT 1;
    IF FOUND THEN
        PERFORM lockstep.job_refuse('job', format('"%s" is declared twice', left(one.name, 100)),
                                    'give each job its own name');
    END IF;
    BEGIN
        -- A job that others follow has a row, of version 0, before they are made.
        FOR one IN
            SELECT e.spec, e.n
            FROM jsonb_array_elements(job_apply.specs) WITH ORDINALITY AS e (spec, n)
            WHERE e.spec ->> 'job' IN (SELECT s ->> 'job'
                                       FROM jsonb_path_query(
                                           job_apply.specs, '$[*].schedules[*] ? (@.kind == "after")') AS s)
              AND NOT EXISTS (SELECT FROM lockstep.job j WHERE j.name = e.spec ->> 'job')
        LOOP
            about := lockstep.job_about(one.spec, one.n);
            PERFORM lockstep.job_check(one.spec);
            INSERT INTO lockstep.job (name, is_watch, queue_id, spec, enabled, overlap, zombie_after, version)
            SELECT one.spec ->> 'job', q.queue_id IS NULL, q.queue_id, one.spec, false, 'skip', interval '30 min', 0
            FROM (SELECT) AS new LEFT JOIN lockstep.queue q ON q.name = one.spec ->> 'queue'
            ON CONFLICT (name) DO NOTHING;
        END LOOP;
        FOR one IN SELECT e.spec, e.n FROM jsonb_array_elements(job_apply.specs) WITH ORDINALITY AS e (spec, n) LOOP
            about := lockstep.job_about(one.spec, one.n);
            said := lockstep.job_apply_one(one.spec, job_apply.file, job_apply.force);
            done := done || jsonb_build_object('job', one.spec ->> 'job', 'action', said.action, 'detail', said.detail);
        END LOOP;
        about := NULL;
        stays := array_remove(job_apply.elsewhere, NULL)
                 || ARRAY(SELECT e ->> 'job' FROM jsonb_array_elements(job_apply.specs) AS e);
        PERFORM lockstep.job_circle(j.job_id, j.name)
        FROM (
            SELECT b.job_id, b.name
            FROM lockstep.job b
            WHERE b.name IN (SELECT e ->> 'job' FROM jsonb_array_elements(job_apply.specs) AS e)
            ORDER BY b.is_watch, b.job_id) j;
        DELETE FROM lockstep.schedule s
        USING lockstep.job j -- jobs that go may follow each other
        WHERE j.job_id = s.job_id AND job_apply.prune AND j.file = job_apply.file
          AND (job_apply.force OR j.declared IS NOT DISTINCT FROM j.spec)
          AND j.name <> ALL (stays);
        FOR one IN
            SELECT j.name, job_apply.force OR j.declared IS NOT DISTINCT FROM j.spec AS goes
            FROM lockstep.job j
            WHERE job_apply.prune AND j.file = job_apply.file AND j.name <> ALL (stays)
            ORDER BY j.job_id DESC
        LOOP
            IF one.goes THEN
                PERFORM lockstep.job_delete(one.name);
            END IF;
            done := done
                    || jsonb_build_object('job', one.name, 'action', CASE WHEN one.goes THEN 'delete' ELSE 'kept' END,
                        'detail', CASE WHEN NOT one.goes THEN 'changed by hand; an apply with force deletes it' END);
        END LOOP;
        IF job_apply.dry_run THEN
            RAISE EXCEPTION 'dry run' USING ERRCODE = 'LS00D';
        END IF;
    EXCEPTION
        WHEN SQLSTATE 'LS00D' THEN -- a code that ends in 000 would be all of its class
            NULL; -- undone
        WHEN invalid_parameter_value OR SQLSTATE 'LS002' OR SQLSTATE 'LS003' THEN
            GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
            IF about IS NULL OR jsonb_array_length(job_apply.specs) = 1 OR strpos(message, 'job ' || about) = 1 THEN
                RAISE;
            END IF;
            RAISE EXCEPTION '%: %', about, message USING ERRCODE = SQLSTATE, HINT = hint;
    END;
    RETURN QUERY SELECT e ->> 'job', e ->> 'action', e ->> 'detail' FROM jsonb_array_elements(done) AS e;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_apply(jsonb, text, boolean, boolean, boolean, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_apply(jsonb, text, boolean, boolean, boolean, text[]) TO lockstep_operator;
