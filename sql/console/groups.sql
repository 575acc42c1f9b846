-- console_groups :one  what the login of this session may do; member: it is in one of the groups, also where it does
-- not inherit what they may
-- columns: monitor, operator, member
SELECT pg_has_role(session_user, 'lockstep_monitor', 'usage')
       OR pg_has_role(session_user, 'lockstep_operator', 'usage') AS monitor,
       pg_has_role(session_user, 'lockstep_operator', 'usage') AS operator,
       pg_has_role(session_user, 'lockstep_monitor', 'member')
       OR pg_has_role(session_user, 'lockstep_operator', 'member') AS member;
