-- job_rows :none  rows of relation $1 have changed: its triggers are looked at soon
SELECT lockstep.dispatch_rows($1::oid);
