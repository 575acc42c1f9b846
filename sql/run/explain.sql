-- run_explain :many  why run $1 does not continue: the reasons, the first to be looked at first
-- columns: reason, sentence
SELECT e.reason, e.sentence FROM lockstep.explain(NULL, $1::bigint, NULL) AS e;
