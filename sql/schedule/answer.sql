-- schedule_answer :one  the answer to line $1 of a file of rules: {"next": [...]} or {"error": ..., "message": ...,
-- "hint": ...}; $2 times where the line has no n
-- columns: answer
SELECT lockstep.schedule_answer($1::text, $2::int) AS answer;
