-- schedule_explain :many  what the rule $1 means, $2 times of it, and its clock changes: rows of the kinds means,
-- warning, next and clock_change
-- columns: kind, at, words
-- words of kind: means, warning, next, clock_change
SELECT e.kind, e.at, e.words FROM lockstep.schedule_explain($1::jsonb, $2::int) AS e;
