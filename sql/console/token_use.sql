-- console_token_use :maybe  whose token $1 is, which role it has, and what proves it to the event log; that it was used
-- is noted
-- columns: name, role, proof
SELECT u.name, u.role, u.proof FROM lockstep.token_use($1::text) AS u WHERE u.name IS NOT NULL;
