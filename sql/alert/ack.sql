-- alert_ack :one  acknowledges incident $1 (a number, or # and a number), or all open ones of the job of this name,
-- because of $2
-- columns: acknowledged
SELECT lockstep.alert_ack($1::text, $2::text) AS acknowledged;
