-- monitor_ended :none  monitor $1 was asked to end
SELECT lockstep.monitor_ended($1::text);
