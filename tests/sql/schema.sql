-- What the schema promises to people who read it with their own tools.
BEGIN;
SELECT plan(16);

SELECT has_schema('lockstep');
SELECT has_view('lockstep', view, 'the view lockstep.' || view || ' is promised')
  FROM unnest(ARRAY['execution_log', 'run_status', 'phase_status', 'reader_status', 'rejected']) AS view;

-- Columns may be added; these keep their names.
CREATE FUNCTION pg_temp.missing(view text, VARIADIC promised text[]) RETURNS text[] LANGUAGE sql AS $$
    SELECT coalesce(array_agg(name ORDER BY name), '{}') FROM unnest(promised) AS name
     WHERE name NOT IN (SELECT attname FROM pg_attribute
                         WHERE attrelid = ('lockstep.' || view)::regclass AND attnum > 0 AND NOT attisdropped)
$$;
SELECT is(pg_temp.missing('execution_log', 'queue', 'run_id', 'order', 'previous_order', 'seq', 'task_id', 'attempt',
                          'type',
                          'sql', 'status', 'started_at', 'ended_at', 'duration', 'executor_id', 'error', 'rows',
                          'notices'),
          '{}', 'execution_log has the promised columns');
SELECT is(pg_temp.missing('run_status', 'queue', 'run_id', 'name', 'status', 'tasks', 'pending', 'processing', 'error',
                          'completed', 'failed', 'cancelled', 'order', 'published_at', 'started_at', 'ended_at'),
          '{}', 'run_status has the promised columns');
SELECT is(pg_temp.missing('phase_status', 'run_id', 'order', 'previous_order', 'tasks', 'finished', 'opened_at',
                          'done_at'),
          '{}', 'phase_status has the promised columns');
SELECT is(pg_temp.missing('reader_status', 'queue', 'max_readers', 'in_use', 'executor_id', 'host', 'pid', 'readers',
                          'heartbeat_at'),
          '{}', 'reader_status has the promised columns');
SELECT is(pg_temp.missing('rejected', 'queue', 'offset', 'reason', 'detail', 'raw', 'rejected_at'),
          '{}', 'rejected has the promised columns');

SELECT col_type_is('lockstep', 'rejected', 'raw', 'bytea', 'a rejected message keeps its bytes');

SELECT is((SELECT array_agg(rolname::text ORDER BY rolname) FROM pg_roles
           WHERE rolname LIKE 'lockstep\_%' AND rolcanlogin
              AND rolname <> 'lockstep_test'),
          NULL, 'no group role can log in');
SELECT ok(pg_has_role('lockstep_executor', 'lockstep_task', 'MEMBER'),
          'executors may end the sessions that run tasks');
SELECT ok(has_table_privilege('lockstep_monitor', 'lockstep.execution_log', 'SELECT'),
          'monitors read the execution log');
SELECT is((SELECT array_agg(c.relname::text ORDER BY 1) FROM pg_class c
            WHERE c.relnamespace = 'lockstep'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'S')
              AND CASE WHEN c.relkind = 'S' THEN has_sequence_privilege('lockstep_task', c.oid, 'USAGE, SELECT, UPDATE')
                       ELSE has_table_privilege('lockstep_task', c.oid,
                                                'SELECT, INSERT, UPDATE, DELETE, TRUNCATE') END),
          NULL, 'task SQL has no right on any relation of ours');

SELECT * FROM finish();
ROLLBACK;
