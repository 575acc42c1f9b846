-- Steps that are commands or requests: a task needs several things of an executor's configuration then.
ALTER TABLE lockstep.task ALTER COLUMN needs TYPE text[] USING CASE WHEN needs IS NOT NULL THEN ARRAY[needs] END;
DROP FUNCTION IF EXISTS lockstep.action_begin, lockstep.action_leave; -- their parameters have changed; the functions are applied after this
