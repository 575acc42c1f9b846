-- console_groups :one  what the login of this session may do; member: it is in one of the groups, also where it does
-- not inherit what they may; signs_in: it could sign in now, as far as its role says
-- columns: monitor, operator, member, signs_in
SELECT pg_has_role(session_user, 'lockstep_monitor', 'usage')
       OR pg_has_role(session_user, 'lockstep_operator', 'usage') AS monitor,
       pg_has_role(session_user, 'lockstep_operator', 'usage') AS operator,
       pg_has_role(session_user, 'lockstep_monitor', 'member')
       OR pg_has_role(session_user, 'lockstep_operator', 'member') AS member,
       EXISTS (SELECT
               FROM pg_catalog.pg_roles r
               WHERE r.rolname = session_user AND r.rolcanlogin
                 AND (r.rolvaliduntil IS NULL OR r.rolvaliduntil > clock_timestamp())) AS signs_in;
