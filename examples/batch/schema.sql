-- The tables that the jobs of jobs.json read and write.
CREATE TABLE sale (region text, amount numeric);
-- Without a sale there is no total: the report fails.
CREATE TABLE report (at timestamptz PRIMARY KEY, total numeric NOT NULL);
CREATE TABLE extract (at timestamptz, region text, amount numeric);
CREATE TABLE compilation (at timestamptz PRIMARY KEY, regions int, amount numeric);
-- The login that runs the tasks (task_conninfo) is a member of this group.
GRANT SELECT ON sale TO lockstep_task;
GRANT INSERT ON report, compilation TO lockstep_task;
GRANT SELECT, INSERT ON extract TO lockstep_task;
