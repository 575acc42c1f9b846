-- The table of a trigger is known by its name alone: one that was dropped and made again has another oid.
DROP INDEX lockstep.schedule_rows;
ALTER TYPE lockstep.rows_rule DROP ATTRIBUTE relation_oid;
CREATE INDEX schedule_rows ON lockstep.schedule (((rows_rule).relation)) WHERE (rows_rule).relation IS NOT NULL AND is_active;
