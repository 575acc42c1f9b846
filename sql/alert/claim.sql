-- alert_claim :one  the next notice for receiver $1, claimed by $2 for $7 ms: of jobs $3 and kinds $4 (NULL: all), open
-- for $5 ms, reminders every $6 ms (NULL: none)
-- columns: notice, attempt, document, key, wait_ms
SELECT c.notice_id AS notice, c.attempt, c.document, c.notice_key AS key, c.wait_ms
FROM lockstep.notice_claim(p_receiver => $1::text, p_by => $2::text, p_jobs => string_to_array($3::text, ','),
                           p_kinds => string_to_array($4::text, ','),
                           p_hold => $5::bigint * interval '1 millisecond',
                           p_remind => $6::bigint * interval '1 millisecond',
                           p_lease => $7::bigint * interval '1 millisecond') AS c;
