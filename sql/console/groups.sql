-- console_groups :one  what the login of this session may do
-- columns: monitor, operator
SELECT pg_has_role(session_user, 'lockstep_monitor', 'usage') OR pg_has_role(session_user, 'lockstep_operator', 'usage') AS monitor,
       pg_has_role(session_user, 'lockstep_operator', 'usage') AS operator;
