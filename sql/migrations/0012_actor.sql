-- Who did something: a login, or the token that a program came with, which shares the console's login.
CREATE FUNCTION lockstep.actor() RETURNS text LANGUAGE sql STABLE AS 'SELECT session_user::text';
ALTER TABLE lockstep.event_log ALTER COLUMN actor SET DEFAULT lockstep.actor();
ALTER TABLE lockstep.replay ALTER COLUMN started_by SET DEFAULT lockstep.actor();
ALTER TABLE lockstep.job ALTER COLUMN changed_by SET DEFAULT lockstep.actor();
ALTER TABLE lockstep.console_token ALTER COLUMN created_by SET DEFAULT lockstep.actor();
