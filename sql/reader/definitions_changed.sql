-- reader_definitions_changed :one  in the transaction of a task that may have changed what the database defines
SELECT lockstep.definitions_changed();
