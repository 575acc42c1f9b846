-- view_time_zone :one  shows times in zone $1
-- columns: time_zone
SELECT pg_catalog.set_config('TimeZone', $1::text, false) AS time_zone;
