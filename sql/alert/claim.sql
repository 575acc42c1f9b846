-- alert_claim :one  the next notice for receiver $1, claimed by $2 for $7 ms: of jobs $3 and kinds $4 (NULL: all), open
-- for $5 ms, reminders every $6 ms (NULL: none)
-- columns: notice, attempt, document, key, wait_ms
SELECT c.notice_id AS notice, c.attempt, c.document, c.notice_key AS key, c.wait_ms
FROM lockstep.notice_claim($1::text, $2::text, string_to_array($3::text, ','), string_to_array($4::text, ','),
                           $5::bigint * interval '1 millisecond', $6::bigint * interval '1 millisecond',
                           $7::bigint * interval '1 millisecond') AS c;
