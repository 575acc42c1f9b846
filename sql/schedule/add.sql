-- schedule_add :one  adds the schedule $2 to job $1, if it is of version $3 (NULL: any)
-- columns: version
SELECT lockstep.schedule_add($1::text, $2::jsonb, $3::int) AS version;
