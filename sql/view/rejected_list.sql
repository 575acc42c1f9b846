-- view_rejected_list :many  rejected messages: queue $1 (NULL: all), the newest $2
-- columns: id, queue, offset, run_id, seq, reason, detail, bytes, rejected_at, redriven_at
SELECT v.rejected_id AS id, v.queue, v."offset", v.run_id, v.seq, v.reason, v.detail, length(v.raw) AS bytes,
       v.rejected_at, v.redriven_at
FROM (SELECT r.rejected_id, r.queue, r."offset", r.run_id, r.seq, r.reason, r.detail, r.raw, r.rejected_at,
             r.redriven_at
      FROM lockstep.rejected r
      WHERE $1::text IS NULL OR r.queue = $1::text
      ORDER BY r.rejected_id DESC LIMIT $2::bigint) v
ORDER BY v.rejected_id;
