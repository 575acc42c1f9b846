-- alert_start :one  what waits for the next attempt at receiver $1 is tried at once
-- columns: tried
SELECT lockstep.notice_start($1::text) AS tried;
