-- console_token_make :one  a new token of name $1 and role $2 (monitor, operator, ping), which expires after $3 days
-- (NULL: never), and may publish if $4, because of $5
-- columns: document
SELECT json_build_object('name', $1::text, 'role', $2::text, 'publishes', $4::boolean, 'token', lockstep.token_create(
    name => $1::text, operator => $2::text = 'operator', days => $3::int, producer => $4::boolean, reason => $5::text,
    pinger => $2::text = 'ping')) AS document;
