-- console_token_end :one  revokes the token $1, because of $2
-- columns: document
SELECT json_build_object('name', $1::text, 'revoked', true) AS document
FROM (SELECT lockstep.token_revoke($1::text, $2::text) OFFSET 0) AS done;
