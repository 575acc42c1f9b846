-- alert_receivers :many  the receivers of alerts, and the notices not delivered to each
-- columns: receiver, is_served, undelivered, undelivered_since, error
SELECT r.receiver, r.is_served, r.undelivered, r.undelivered_since, r.error
FROM lockstep.alert_receiver r ORDER BY r.receiver;
