-- migrate_record_function :none  a function is applied: name, checksum
INSERT INTO lockstep.function_version (name, checksum)
VALUES ($1::text, $2::text)
ON CONFLICT (name) DO UPDATE SET
    checksum = EXCLUDED.checksum, applied_at = clock_timestamp(), applied_by = session_user;
