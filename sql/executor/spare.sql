-- executor_spare :one  attempts of the incarnation before that were nobody's fault: its id, task ids, tokens, attempts
-- columns: spared
SELECT lockstep.spare($1::uuid, $2::bigint[], $3::uuid[], $4::int[])::text AS spared;
