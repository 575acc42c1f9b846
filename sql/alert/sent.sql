-- alert_sent :one  what became of attempt $2 of notice $1: error $3 (NULL: delivered), the receiver wants $4 s
-- columns: wait_s
SELECT lockstep.notice_sent(p_notice => $1::bigint, p_attempt => $2::int, p_error => $3::text,
                            p_retry_s => $4::int) AS wait_s;
