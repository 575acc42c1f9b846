-- The schema and everything in it belong to lockstep_owner; nothing is executable by PUBLIC unless granted.
ALTER SCHEMA lockstep OWNER TO lockstep_owner;
ALTER TABLE lockstep.migration OWNER TO lockstep_owner;
ALTER TABLE lockstep.function_version OWNER TO lockstep_owner;
ALTER DEFAULT PRIVILEGES FOR ROLE lockstep_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
REVOKE ALL ON SCHEMA lockstep FROM PUBLIC;
GRANT USAGE ON SCHEMA lockstep TO lockstep_executor, lockstep_task, lockstep_producer, lockstep_operator, lockstep_monitor;
GRANT SELECT ON lockstep.migration, lockstep.function_version
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
