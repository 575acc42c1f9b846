-- console_newest :one  the number of the newest event, 0 if there is none
-- columns: id
SELECT COALESCE(max(l.event_id), 0) AS id FROM lockstep.event_log l;
