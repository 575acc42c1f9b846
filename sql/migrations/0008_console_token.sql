-- Tokens of programs that use the console's API. The token itself is shown once, and only its SHA-256 is kept.
CREATE TABLE lockstep.console_token (
    token_no int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    hash bytea NOT NULL UNIQUE,
    operator boolean NOT NULL,
    created_by text NOT NULL DEFAULT session_user,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz,
    last_used_at timestamptz,                   -- to the minute
    revoked_by text,
    revoked_at timestamptz
);
GRANT SELECT (token_no, name, operator, created_by, created_at, expires_at, last_used_at, revoked_by, revoked_at) ON lockstep.console_token
    TO lockstep_operator, lockstep_monitor;
