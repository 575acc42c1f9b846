-- migrate_maker :one  may this login make roles?
-- columns: may
SELECT (r.rolsuper OR r.rolcreaterole) AS may FROM pg_roles r WHERE r.rolname = session_user;
