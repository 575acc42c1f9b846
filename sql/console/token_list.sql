-- console_token_list :many  the tokens, with the state of each
-- columns: name, role, publishes, state, created_by, created_at, expires_at, last_used_at
SELECT t.name, lockstep.token_role(t.operator, t.pinger) AS role, t.producer AS publishes,
       CASE WHEN t.revoked_at IS NOT NULL THEN 'revoked'
            WHEN t.expires_at <= clock_timestamp() THEN 'expired' ELSE 'valid' END AS state,
       t.created_by, t.created_at, t.expires_at, t.last_used_at
FROM lockstep.console_token t ORDER BY t.token_no;
