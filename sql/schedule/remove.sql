-- schedule_remove :one  takes schedule $2 from job $1, if it is of version $3 (NULL: any)
-- columns: version
SELECT lockstep.schedule_remove($1::text, $2::text, $3::int) AS version;
