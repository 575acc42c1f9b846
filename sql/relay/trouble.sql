-- relay_trouble :none  queue_id, kind: why its rows wait; NULL: they do not any more
UPDATE lockstep.relay
SET trouble = $3::text,
    trouble_since = CASE WHEN $3::text IS NOT NULL THEN COALESCE(trouble_since, clock_timestamp()) END
WHERE queue_id = $1::int AND kind = $2::text AND trouble IS DISTINCT FROM $3::text;
