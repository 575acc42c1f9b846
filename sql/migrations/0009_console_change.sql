-- Changes that the console's API makes once: of each Idempotency-Key what was asked for, and the answer.
CREATE TABLE lockstep.console_change (
    change_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    visitor text NOT NULL,                      -- the login of the session, and who it was
    key text NOT NULL,
    digest bytea NOT NULL,                      -- of the request
    answer text,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (visitor, key)
);
CREATE INDEX console_change_made ON lockstep.console_change (made_at);
