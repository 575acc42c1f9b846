-- run_explain :many  why run $1 does not go on: the reasons, the first to be looked at first
SELECT e.reason, e.sentence FROM lockstep.explain(NULL, $1::bigint, NULL) AS e;
