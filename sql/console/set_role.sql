-- console_set_role :one  this session acts as group $1 from now on; none: as its login
-- columns: role
SELECT set_config('role', $1::text, false) AS role;
