-- job_rows :one  rows of the relations $1 (NULL: of any) have changed: their triggers are looked at soon; held: but for
-- one whose row another session holds
-- columns: held
SELECT lockstep.dispatch_rows($1::oid[]) AS held;
