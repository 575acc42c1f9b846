#!/bin/bash
# A birthmark is renewed every hour. The queue knows it still at the looks that follow, and is not halted for it.
# ctest: nosan timeout=60
. "$(dirname "$0")/../support/e2e.bash"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic
case_begin 'a queue whose birthmark is renewed is not halted by the looks that follow'
age() { sql "SELECT extract(epoch FROM clock_timestamp() - marked_at)::int FROM lockstep.queue WHERE name = '$q'"; }
fresh() { local now && now=$(age) && [ -n "$now" ] && [ "$now" -lt 60 ]; }
fresh # from queue create on
sql "UPDATE lockstep.queue SET marked_at = clock_timestamp() - interval '2 hours' WHERE name = '$q'"
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 1 2>"$tmp/log" &
pid=$!
eventually 20 fresh
sleep 8 # a look, and the one that would confirm what it has found
! grep 'event=queue_halted' "$tmp/log" || wrong 'the queue is halted'
told_to_end "$pid"
cases_end
exit $failed
