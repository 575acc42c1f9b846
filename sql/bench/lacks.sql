-- bench_lacks :one  the group roles that this login needs to measure and does not have, with commas; NULL: none
-- columns: roles
SELECT string_agg(w.role, ', ' ORDER BY w.n) AS roles
FROM unnest(ARRAY['lockstep_operator', 'lockstep_producer', 'lockstep_executor']) WITH ORDINALITY AS w (role, n)
WHERE NOT pg_has_role(session_user, w.role, 'USAGE');
