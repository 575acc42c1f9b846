-- relay_headers :many  queue_id, kind, from seq $3 to seq $4: seq, name, value of each header in order
-- columns: relay_seq, name, content
SELECT r.relay_seq, h.name, h.content
FROM lockstep.outbox_record r
CROSS JOIN LATERAL ROWS FROM (unnest(r.header_names), unnest(r.header_values)) WITH ORDINALITY AS h (name, content, n)
WHERE r.queue_id = $1::int AND r.kind = $2::text AND r.relay_seq BETWEEN $3::bigint AND $4::bigint
ORDER BY r.relay_seq, h.n;
