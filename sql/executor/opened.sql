-- executor_opened :none  logs openings and tells who was refused a claim: phase_ids, executor_no
SELECT lockstep.opened($1::bigint[], $2::int);
