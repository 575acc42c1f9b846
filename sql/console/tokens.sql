-- console_tokens :one  the tokens of the API, the newest 1,000
-- columns: document
SELECT json_build_object('items', COALESCE((
    SELECT json_agg(json_build_object(
               'name', t.name, 'role', lockstep.token_role(t.operator, t.pinger), 'publishes', t.producer,
               'created_by', t.created_by, 'created_at', t.created_at, 'expires_at', t.expires_at,
               'last_used_at', t.last_used_at, 'revoked_by', t.revoked_by, 'revoked_at', t.revoked_at,
               'state', CASE WHEN t.revoked_at IS NOT NULL THEN 'revoked'
                             WHEN t.expires_at <= clock_timestamp() THEN 'expired'
                             ELSE 'valid' END)
           ORDER BY t.token_no DESC)
    FROM (SELECT c.token_no, c.name, c.operator, c.producer, c.pinger, c.created_by, c.created_at, c.expires_at,
                 c.last_used_at, c.revoked_by, c.revoked_at
          FROM lockstep.console_token c
          ORDER BY c.token_no DESC LIMIT 1000) t), '[]'::json)) AS document;
