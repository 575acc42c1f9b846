-- console_set_role :one  this session acts as group $1 from now on (none: as its login), for the token that $2 proves
-- (empty: none)
-- columns: role, token
SELECT set_config('role', $1::text, false) AS role, set_config('lockstep.token', $2::text, false) AS token;
