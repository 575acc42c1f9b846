-- console_token_revoke :one  revokes token $1
-- columns: done
SELECT lockstep.token_revoke($1::text) AS done;
