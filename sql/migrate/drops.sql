-- migrate_drops :many  statements that drop functions and views called $1: all ($2), or the functions that this
-- transaction has not made
-- columns: statement
SELECT format('DROP FUNCTION %s', p.oid::regprocedure) AS statement
FROM pg_proc p
WHERE p.pronamespace = to_regnamespace('lockstep') AND p.proname = $1::text
  AND ($2::boolean OR age(p.xmin) <> 0) -- age 0: this transaction's own
UNION ALL
SELECT format('DROP VIEW %s', c.oid::regclass)
FROM pg_class c
WHERE $2::boolean AND c.relnamespace = to_regnamespace('lockstep') AND c.relname = $1::text AND c.relkind = 'v';
