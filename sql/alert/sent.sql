-- alert_sent :one  what became of attempt $2 of notice $1: error $3 (NULL: delivered), the receiver wants $4 s
-- columns: wait_s
SELECT lockstep.notice_sent($1::bigint, $2::int, $3::text, $4::int) AS wait_s;
