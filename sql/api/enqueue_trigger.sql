-- A trigger that enqueues work for changed rows: for each row a run of its own, or, for a statement, one run of all its
-- rows.
--   CREATE TRIGGER ship AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION lockstep.enqueue_trigger(
--       'shipping', '{"order": 100, "sql": "CALL ship($1)", "params": ["{id}"]}');
--   CREATE TRIGGER ship AFTER INSERT ON orders REFERENCING NEW TABLE AS new FOR EACH STATEMENT EXECUTE FUNCTION ...
-- Arguments: the queue; a task or an array of tasks, in which "{column}" is replaced by the row's value (enqueue_fill);
-- the run's name. The login that makes the trigger must be a producer; a login that changes the table needs no right. A
-- deleted row has its old values. The trigger runs as lockstep_owner, so it may run no function of the table's types:
-- only enqueue_columns makes JSON of a row.
CREATE OR REPLACE FUNCTION lockstep.enqueue_trigger() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    template jsonb;
    rows jsonb[];
    made jsonb[];
    source text;
    columns CONSTANT text := lockstep.enqueue_columns(TG_RELID);
BEGIN
    IF TG_WHEN <> 'AFTER' OR TG_OP = 'TRUNCATE' THEN
        RAISE EXCEPTION 'trigger %: it must be AFTER INSERT, UPDATE or DELETE', TG_NAME
            USING ERRCODE = 'object_not_in_prerequisite_state';
    ELSIF TG_NARGS NOT IN (2, 3) THEN
        RAISE EXCEPTION 'trigger %: enqueue_trigger takes a queue, a template and, if you like, a name', TG_NAME
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = $h$enqueue_trigger('queue', '{"order": 100, "sql": "CALL ship($1)", "params": ["{id}"]}')$h$;
    END IF;
    BEGIN
        template := TG_ARGV[1]::jsonb;
    EXCEPTION WHEN data_exception THEN
        RAISE EXCEPTION 'trigger %: its template is no JSON: %', TG_NAME, SQLERRM
            USING ERRCODE = 'invalid_parameter_value', DETAIL = left(TG_ARGV[1], 300);
    END;
    IF TG_LEVEL = 'ROW' AND TG_OP = 'DELETE' THEN
        EXECUTE format('SELECT ARRAY[(%s)] FROM (SELECT ($1).*) AS n', columns) INTO rows USING OLD;
    ELSIF TG_LEVEL = 'ROW' THEN
        EXECUTE format('SELECT ARRAY[(%s)] FROM (SELECT ($1).*) AS n', columns) INTO rows USING NEW;
    ELSE
        SELECT CASE WHEN TG_OP = 'DELETE' THEN t.tgoldtable ELSE t.tgnewtable END INTO source
        FROM pg_trigger t WHERE t.tgrelid = TG_RELID AND t.tgname = TG_NAME;
        IF source IS NULL THEN
            RAISE EXCEPTION 'trigger %: for a statement it needs the rows', TG_NAME
                USING ERRCODE = 'object_not_in_prerequisite_state',
                      HINT = 'CREATE TRIGGER ... REFERENCING NEW TABLE AS new FOR EACH STATEMENT, or FOR EACH ROW.';
        END IF;
        EXECUTE format('SELECT array_agg((%s)) FROM %I AS n', columns, source) INTO rows;
    END IF;
    IF rows IS NULL THEN
        RETURN NULL; -- a statement that changed nothing
    END IF;
    SELECT array_agg(lockstep.enqueue_fill(t.task, r.content) ORDER BY r.n, t.n) INTO made
    FROM unnest(rows) WITH ORDINALITY AS r (content, n)
    CROSS JOIN LATERAL jsonb_array_elements(CASE jsonb_typeof(template) WHEN 'array' THEN template
                                                 ELSE jsonb_build_array(template) END) WITH ORDINALITY AS t (task, n);
    PERFORM lockstep.enqueue(TG_ARGV[0], made, TG_ARGV[2]);
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.enqueue_trigger() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.enqueue_trigger() TO lockstep_producer;
