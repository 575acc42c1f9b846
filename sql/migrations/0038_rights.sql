-- No right that lets one role become another. Who references a table has its casts and operators run by the check of the key, as the
-- owner of the referenced table; an administrator grants that to roles that are trusted with it (docs/EXTERNAL.md).
REVOKE REFERENCES (task_id) ON lockstep.task FROM lockstep_worker;

-- A producer registers and notes its publishing by functions (publish_start ...), in its own name; an operator logs in its own name.
REVOKE INSERT, UPDATE ON lockstep.run FROM lockstep_producer;
REVOKE INSERT ON lockstep.event_log FROM lockstep_producer, lockstep_operator;
REVOKE UPDATE (redrive_run, redriven_at, redriven_by) ON lockstep.rejected_message FROM lockstep_producer;
GRANT INSERT (event, queue_id, detail) ON lockstep.event_log TO lockstep_operator;
