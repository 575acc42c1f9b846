-- migrate_record_function :none  a function or view is applied: name, checksum, release of Lockstep
INSERT INTO lockstep.function_version (name, checksum, release)
VALUES ($1::text, $2::text, $3::text)
ON CONFLICT (name) DO UPDATE SET
    checksum = EXCLUDED.checksum, release = EXCLUDED.release, applied_at = clock_timestamp(), applied_by = session_user;
