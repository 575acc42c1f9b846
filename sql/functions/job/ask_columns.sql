-- Refuses the columns of a job's query if no run can be made of its rows (lockstep.job_rows, enqueue_check), with any
-- values but NULL. One column that may hold a JSON object may hold the whole task. A text may be JSON, and so may a
-- value of a type that is not known here.
CREATE OR REPLACE FUNCTION lockstep.ask_columns(p_names text[], p_types regtype[]) RETURNS void
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ORDERS CONSTANT text[] := '{order,execution_order}';
    WORKS CONSTANT text[] := '{sql,command,url,steps,type}';
    one record;
BEGIN
    FOR one IN
        SELECT c.name, format_type(c.type, NULL) AS type, k.kind, f.field, f.types,
               cardinality(p_names) = 1 AND COALESCE(k.kind, t.typcategory::text) NOT IN
                   ('number', 'boolean', 'array', 'string', 'S') AS is_task
        FROM unnest(p_names, p_types) WITH ORDINALITY AS c (name, type, n)
        JOIN pg_type t ON t.oid = c.type
        CROSS JOIN LATERAL (
            SELECT CASE WHEN t.oid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'float4'::regtype,
                                       'float8'::regtype, 'numeric'::regtype) THEN 'number'
                        WHEN t.oid = 'bool'::regtype THEN 'boolean'
                        WHEN t.typcategory = 'A' THEN 'array'
                        WHEN t.typtype = 'c' OR t.oid = 'record'::regtype THEN 'object'
                        WHEN t.typcategory IN ('D', 'T') OR t.oid IN ('uuid'::regtype, 'bytea'::regtype) THEN 'string'
                        END AS kind) AS k
        LEFT JOIN lockstep.enqueue_fields() AS f
            ON f.field = CASE WHEN c.name = ANY (ORDERS) THEN 'order' ELSE c.name END
        ORDER BY c.n
    LOOP
        IF one.is_task THEN
            RETURN;
        ELSIF one.name IN ('run', 'seq', 'previous_order') THEN
            PERFORM lockstep.job_refuse(format('column "%s"', one.name), 'it is computed', 'leave it out');
        ELSIF one.field IS NULL THEN
            PERFORM lockstep.job_refuse(
                format('column "%s"', left(one.name, 100)), 'a task has no such field',
                format('leave it out, or bind it: jsonb_build_array(%I) AS params', left(one.name, 100)));
        ELSIF one.kind <> ALL (one.types) THEN
            PERFORM lockstep.job_refuse(
                format('column "%s"', one.name),
                format('it is of type %s, and the field of a task is a JSON %s', one.type,
                       array_to_string(one.types, ' or ')),
                format(CASE one.types[1] WHEN 'number' THEN 'write a number, for example 10 AS %1$I'
                                         WHEN 'boolean' THEN 'write true AS %1$I'
                                         WHEN 'array' THEN 'write jsonb_build_array(...) AS %1$I'
                                         WHEN 'object' THEN 'write jsonb_build_object(''name'', ''value'') AS %1$I'
                                         ELSE 'write a text, for example %1$I::text AS %1$I' END, one.name));
        END IF;
    END LOOP;
    IF NOT p_names && ORDERS THEN
        PERFORM lockstep.job_refuse('column "order"', 'the query does not return it',
                                    'write a number that is the same for tasks that run together: 10 AS "order"');
    ELSIF NOT p_names && WORKS THEN
        PERFORM lockstep.job_refuse('column "sql"',
                                    'the query does not return it, nor one of "command", "url", "steps" and "type"',
                                    'write what a task is to do, for example ''CALL load()'' AS sql');
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.ask_columns(text[], regtype[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.ask_columns(text[], regtype[]) TO lockstep_task;
