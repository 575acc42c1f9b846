-- relay_fetch :many  queue_id, kind, behind seq $3: seq, key, value, its length; at most $4 rows and about $5 bytes
-- columns: relay_seq, key, value, size
SELECT f.relay_seq, f.key, f.value, f.size
FROM (SELECT r.relay_seq, r.key, r.value, octet_length(r.value) AS size,
             sum(octet_length(r.value)) OVER (
                 ORDER BY r.relay_seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
      FROM (SELECT relay_seq, key, value FROM lockstep.outbox_record
            WHERE queue_id = $1::int AND kind = $2::text AND relay_seq > $3::bigint
            ORDER BY relay_seq LIMIT $4::int) r) f
WHERE COALESCE(f.before, 0) < $5::bigint
ORDER BY f.relay_seq;
