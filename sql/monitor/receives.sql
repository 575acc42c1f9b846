-- monitor_receives :none  monitor $1 sends to receiver $2 alerts of jobs $3 and kinds $4 (NULL: all), open for $5 ms
SELECT lockstep.monitor_receives(p_who => $1::text, p_receiver => $2::text, p_jobs => string_to_array($3::text, ','),
                                 p_kinds => string_to_array($4::text, ','),
                                 p_hold => $5::bigint * interval '1 millisecond');
