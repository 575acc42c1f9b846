-- How often tasks have changed what the database defines: functions, triggers, views... What an executor knows of what tasks may do
-- that their texts do not show (sql/functions/session_risks.sql) holds until then. One row; changed in the task's transaction, so
-- whoever sees the change sees the count.
CREATE TABLE lockstep.definitions (
    changes bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO lockstep.definitions (changes) VALUES (1);
CREATE UNIQUE INDEX definitions_one ON lockstep.definitions ((true));

GRANT SELECT ON lockstep.definitions TO lockstep_executor, lockstep_operator, lockstep_monitor;
