-- console_rejected_message :maybe  rejected message $1, and if $2 what it was: as text, if it is text, and as bytes
-- columns: document
SELECT (SELECT json_build_object('message', i)
        FROM (
            SELECT r.rejected_id, r.queue, r."offset", r.run_id, r.seq, r.reason,
                   lockstep.shown('rejected', r.detail, $2::boolean) AS detail, octet_length(r.raw) AS bytes,
                   r.rejected_at, r.dead_lettered_at, r.redrive_run, r.redriven_at, r.redriven_by,
                   NOT $2::boolean AS hidden, CASE WHEN $2::boolean THEN lockstep.bytes_text(r.raw) END AS raw_text,
                   CASE WHEN $2::boolean THEN encode(r.raw, 'hex') END AS raw_hex,
                   CASE WHEN $2::boolean THEN lockstep.bytes_text(r.key) END AS key,
                   (SELECT COALESCE(json_agg(json_build_object('name', h.name, 'value', lockstep.bytes_text(h.content),
                                                               'value_hex', encode(h.content, 'hex')) ORDER BY h.n),
                                    '[]'::json)
                    FROM ROWS FROM (unnest(r.header_names), unnest(r.header_values)) WITH ORDINALITY
                        AS h (name, content, n)
                    WHERE $2::boolean) AS headers
            FROM lockstep.rejected r WHERE r.rejected_id = n.rejected_id) i) AS document
FROM (SELECT m.rejected_id FROM lockstep.rejected_message m WHERE m.rejected_id = $1::bigint) n;
