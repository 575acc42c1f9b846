-- reader_definitions_changed :one  behind a task that may have changed what the database defines: in its transaction?
-- columns: done
SELECT lockstep.definitions_changed($1::boolean) AS done;
