-- migrate_ensure :none  makes the bookkeeping of the migrations; run as a script under the migrators' lock
CREATE SCHEMA IF NOT EXISTS lockstep;
CREATE TABLE IF NOT EXISTS lockstep.migration (
    version int PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    applied_by text NOT NULL DEFAULT session_user
);
CREATE TABLE IF NOT EXISTS lockstep.function_version (
    name text PRIMARY KEY,
    checksum text NOT NULL,
    release text NOT NULL, -- of Lockstep, by numbers with dots: an older one does not replace it
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    applied_by text NOT NULL DEFAULT session_user
);
