-- console_token_revoke :one  revokes token $1, because of $2 (NULL: none is said)
-- columns: done
SELECT lockstep.token_revoke($1::text, $2::text) AS done;
