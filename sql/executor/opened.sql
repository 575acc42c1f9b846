-- executor_opened :none  logs an opening and tells who was refused a claim: phase_id, executor_no
SELECT lockstep.opened($1::bigint, $2::int);
