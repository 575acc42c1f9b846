-- console_token_use :maybe  the name of token $1, its role, and its proof for the event log; the use is noted
-- columns: name, role, proof
-- words of role: monitor, operator, ping
SELECT u.name, u.role, u.proof FROM lockstep.token_use($1::text) AS u WHERE u.name IS NOT NULL;
