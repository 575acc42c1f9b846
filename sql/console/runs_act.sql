-- console_runs_act :one  does $1 with the runs $2, or with those that $3 describes ({queue, status, name, since,
-- until}), because of $4; $5: the answer of the portion before (NULL: this is the first)
-- columns: document
SELECT a.document FROM lockstep.runs_act(action => $1::text, ids => $2::json, filter => $3::json,
                                         reason => $4::text, so_far => $5::json) AS a (document);
