-- console_alert_ack :one  acknowledges alert $1, because of $2
-- columns: document
SELECT json_build_object('acknowledged', lockstep.alert_ack('#' || $1::text, $2::text)) AS document;
