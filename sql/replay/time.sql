-- replay_time :one  a time as people write it, as Kafka counts it: milliseconds since 1970
-- columns: time_ms
SELECT ceil(extract(epoch FROM $1::timestamptz) * 1000)::bigint AS time_ms;
