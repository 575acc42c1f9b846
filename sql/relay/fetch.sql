-- relay_fetch :many  queue_id, kind, behind seq $3: seq, key, value; at most $4 rows, about $5 bytes with headers
-- columns: relay_seq, key, value
SELECT f.relay_seq, f.key, f.value
FROM (SELECT r.relay_seq, r.key, r.value,
             sum(COALESCE(octet_length(r.key), 0) + COALESCE(octet_length(r.value), 0) + h.size) OVER (
                 ORDER BY r.relay_seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
      FROM (SELECT relay_seq, key, value, header_names, header_values FROM lockstep.outbox_record
            WHERE queue_id = $1::int AND kind = $2::text AND relay_seq > $3::bigint
            ORDER BY relay_seq LIMIT $4::int) r
      CROSS JOIN LATERAL (
          SELECT COALESCE(sum(octet_length(x.name) + COALESCE(octet_length(x.content), 0)), 0) AS size
          FROM ROWS FROM (unnest(r.header_names), unnest(r.header_values)) AS x (name, content)) h) f
WHERE COALESCE(f.before, 0) < $5::bigint
ORDER BY f.relay_seq;
