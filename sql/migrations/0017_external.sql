-- Workers of external tasks: any login that is a member of the group role lockstep_worker, in any language, by SQL alone
-- (docs/EXTERNAL.md). The role may be there already, as in 0001: then it is verified, not changed.
RESET ROLE; -- roles are made by whoever migrates
DO $$
DECLARE
    found record;
BEGIN
    BEGIN
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'lockstep_worker') THEN
            CREATE ROLE lockstep_worker NOLOGIN;
        END IF;
    EXCEPTION
        WHEN duplicate_object OR unique_violation THEN
            NULL; -- another migrator, on another database of this cluster, was quicker
        WHEN insufficient_privilege THEN
            RAISE EXCEPTION 'role lockstep_worker does not exist and % may not create it', current_user
                USING ERRCODE = 'insufficient_privilege',
                      HINT = 'As a superuser: CREATE ROLE lockstep_worker NOLOGIN; then run lockstep migrate up again.';
    END;
    SELECT rolcanlogin, rolsuper, rolcreaterole INTO found FROM pg_catalog.pg_roles WHERE rolname = 'lockstep_worker';
    IF found.rolsuper OR found.rolcreaterole OR found.rolcanlogin THEN
        RAISE EXCEPTION 'role lockstep_worker is no plain group role (it may log in, create roles, or is a superuser)'
            USING HINT = 'ALTER ROLE lockstep_worker NOLOGIN NOSUPERUSER NOCREATEROLE;';
    END IF;
END
$$;
SET LOCAL ROLE lockstep_owner;
GRANT USAGE ON SCHEMA lockstep TO lockstep_worker;

ALTER TABLE lockstep.queue ADD COLUMN external_lease interval NOT NULL DEFAULT '5 minutes'
    CHECK (external_lease BETWEEN '1 second' AND '1000 hours'); -- how long a worker may be silent
ALTER TABLE lockstep.phase ADD COLUMN external boolean NOT NULL DEFAULT false; -- it has external tasks
ALTER TABLE lockstep.task
    ADD COLUMN worker text,             -- external: who has it, if it is Processing; else who had it last
    ADD COLUMN lease_until timestamptz; -- external and Processing: then it is given back
ALTER TABLE lockstep.task_attempt ADD COLUMN worker text;
GRANT SELECT (worker, lease_until) ON lockstep.task TO lockstep_producer, lockstep_operator, lockstep_monitor;
GRANT REFERENCES (task_id) ON lockstep.task TO lockstep_worker; -- tables of users' own types, see docs/EXTERNAL.md

-- What workers have reported in this transaction and is settled when it commits: the trigger on it (worker_settle) applies the
-- run's policy, ends the run and wakes the gates. Only then, because that needs the lock of the queue's row, and a worker's
-- transaction may stay open for as long as it likes. Empty outside transactions.
CREATE TABLE lockstep.worker_report (
    report_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task_id bigint NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE ON lockstep.worker_report TO lockstep_executor;
GRANT SELECT ON lockstep.worker_report TO lockstep_operator, lockstep_monitor;
CREATE FUNCTION lockstep.worker_settle() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; -- sql/functions
CREATE CONSTRAINT TRIGGER settle AFTER INSERT ON lockstep.worker_report DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION lockstep.worker_settle();

-- What modify_task returns.
CREATE TYPE lockstep.worker_task AS (task_id bigint, updated_at timestamptz, status text, step text, attempt_num int, max_attempts int,
    response text, error text, scheduled_for timestamptz, started_at timestamptz, duration interval, lease_until timestamptz);

CREATE OR REPLACE VIEW lockstep.execution_log AS
SELECT q.name AS queue, r.run_id, t."order", p.previous_order, t.seq, t.task_id, t.attempt_num AS attempt, t.type,
       t.payload::json ->> 'sql' AS sql, t.status, t.started_at, t.started_at + t.duration AS ended_at, t.duration,
       e.executor_id, NULL::text AS error, NULL::text AS sqlstate, NULL::text AS detail, NULL::text AS context, t.name, t.worker
FROM lockstep.task t
JOIN lockstep.phase p USING (phase_id)
JOIN lockstep.run r ON r.run_no = t.run_no
JOIN lockstep.queue q ON q.queue_id = t.queue_id
LEFT JOIN lockstep.executor e ON e.executor_no = t.executor_no
WHERE t.status IN ('Completed', 'Processing')
UNION ALL
SELECT q.name, r.run_id, t."order", p.previous_order, t.seq, t.task_id, a.attempt, t.type, t.payload::json ->> 'sql', a.status,
       a.started_at, a.ended_at, a.ended_at - a.started_at, e.executor_id, a.error, a.sqlstate, a.detail, a.context, t.name,
       COALESCE(a.worker, CASE WHEN a.attempt = t.attempt_num THEN t.worker END)
FROM lockstep.task_attempt a
JOIN lockstep.task t USING (task_id)
JOIN lockstep.phase p USING (phase_id)
JOIN lockstep.run r ON r.run_no = t.run_no
JOIN lockstep.queue q ON q.queue_id = t.queue_id
LEFT JOIN lockstep.executor e ON e.executor_no = a.executor_no;

INSERT INTO lockstep.wait_reason (reason, meaning, helps) VALUES
    ('task_offered', 'an external task is due, and no worker has asked for it',
     'Start a worker that calls lockstep.next_task(''QUEUE'', ...), see docs/EXTERNAL.md; or end it by hand: lockstep task complete TASK, lockstep task fail TASK'),
    ('task_with_worker', 'an external worker has it',
     'Wait for its report or for the end of its lease; lockstep task cancel TASK, task complete or task fail end it, whoever has it');
