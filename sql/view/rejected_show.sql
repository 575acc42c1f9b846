-- view_rejected_show :maybe  rejected message $1, its bytes escaped, and in hexadecimal
SELECT r.rejected_id AS id, r.queue, r."offset", r.run_id, r.seq, r.reason, r.detail, r.rejected_at, length(r.raw) AS bytes,
       encode(r.raw, 'escape') AS raw, encode(r.raw, 'hex') AS hex
FROM lockstep.rejected r
WHERE r.rejected_id = $1::bigint;
