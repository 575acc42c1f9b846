-- job_rows :none  rows of the relations $1 (NULL: of any) have changed: their triggers are looked at soon
SELECT lockstep.dispatch_rows($1::oid[]);
