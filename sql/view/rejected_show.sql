-- view_rejected_show :maybe  rejected message $1, its bytes escaped, and in hexadecimal
-- columns: id, queue, offset, run_id, seq, reason, detail, rejected_at, bytes, raw, hex, key, headers,
--          dead_lettered_at, redrive_run, redriven_at, redriven_by, redrive_noted
SELECT r.rejected_id AS id, r.queue, r."offset", r.run_id, r.seq, r.reason, r.detail, r.rejected_at,
       length(r.raw) AS bytes, encode(r.raw, 'escape') AS raw, encode(r.raw, 'hex') AS hex,
       encode(r.key, 'escape') AS key,
       (SELECT string_agg(h.name || '=' || COALESCE(encode(h.content, 'escape'), '(null)'), ', ' ORDER BY h.n)
        FROM ROWS FROM (unnest(r.header_names), unnest(r.header_values)) WITH ORDINALITY AS h (
            name, content, n)) AS headers,
       r.dead_lettered_at, r.redrive_run, r.redriven_at, r.redriven_by,
       r.redrive_noted
FROM lockstep.rejected r
WHERE r.rejected_id = $1::bigint;
