-- console_token_create :one  a new token of name $1, which may act if $2, and expires after $3 days (NULL: never)
-- columns: token
SELECT lockstep.token_create($1::text, $2::boolean, $3::int) AS token;
