-- console_token_use :maybe  whose token $1 is, and whether it may act; that it was used is noted
-- columns: name, operator
SELECT u.name, u.operator FROM lockstep.token_use($1::text) AS u WHERE u.name IS NOT NULL;
