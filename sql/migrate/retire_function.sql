-- migrate_retire_function :none  the function or view $1 was dropped by release $2 of Lockstep: a row without a
-- checksum stays, so that an older release does not make it again
UPDATE lockstep.function_version
SET checksum = '', release = $2::text, applied_at = clock_timestamp(), applied_by = session_user
WHERE name = $1::text;
