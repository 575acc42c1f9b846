-- monitor_seen :one  monitor $1 on host $2 looks, every $3 ms; $4: it has just started
-- columns: known
SELECT lockstep.monitor_seen(p_who => $1::text, p_host => $2::text, p_every => $3::bigint * interval '1 millisecond',
                             p_begins => $4::boolean) AS known;
