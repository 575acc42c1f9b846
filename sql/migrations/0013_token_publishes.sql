-- Tokens that may publish; and functions that take one parameter more.
ALTER TABLE lockstep.console_token ADD COLUMN producer boolean NOT NULL DEFAULT false;
GRANT SELECT (producer) ON lockstep.console_token TO lockstep_operator, lockstep_monitor;
DROP FUNCTION IF EXISTS lockstep.token_create(text, boolean, int);
DROP FUNCTION IF EXISTS lockstep.queue_delete(int);
