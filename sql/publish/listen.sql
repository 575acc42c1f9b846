-- publish_listen :one  hears the notifications of queue $1 on this session: the name of its channel
-- columns: channel
SELECT lockstep.publish_listen($1::int) AS channel;
