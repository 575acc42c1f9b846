-- executor_shared_only :one  a claim was refused: releases S of phases other than $1, see
-- sql/functions/claim/shared_only.sql
-- columns: given
SELECT lockstep.shared_only($1::bigint[]) AS given;
