-- console_token_use :maybe  whose token $1 is, whether it may act, and what proves it to the event log; that it was used is noted
-- columns: name, operator, proof
SELECT u.name, u.operator, u.proof FROM lockstep.token_use($1::text) AS u WHERE u.name IS NOT NULL;
