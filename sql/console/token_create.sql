-- console_token_create :one  a new token of name $1, which may act if $2, expires after $3 days (NULL: never), and may publish if $4
-- columns: token
SELECT lockstep.token_create($1::text, $2::boolean, $3::int, $4::boolean) AS token;
