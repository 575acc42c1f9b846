-- console_token_create :one  a new token of name $1, which may act if $2, expires after $3 days (NULL: never), and may publish if $4, because of $5 (NULL: none is said)
-- columns: token
SELECT lockstep.token_create($1::text, $2::boolean, $3::int, $4::boolean, $5::text) AS token;
