-- console_token_make :one  a new token of name $1, which may do what $2 may (monitor, operator), and expires after $3 days (NULL: never)
-- columns: document
SELECT json_build_object('name', $1::text, 'role', $2::text, 'token', lockstep.token_create($1::text, $2::text = 'operator', $3::int)) AS document;
