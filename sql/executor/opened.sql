-- executor_opened :none  logs openings and notifies the executors that were refused a claim: phase_ids, executor_no
SELECT lockstep.opened($1::bigint[], $2::int);
