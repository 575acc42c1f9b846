#!/bin/bash
# How far a queue is behind its topic, as its executors report it with their heartbeat: it rises while the queue is
# paused, falls to 0 when all is claimed, and is not known when no executor that lives has seen the topic. And the
# memory of each executor.
# ctest: nosan
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/console.bash"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic >/dev/null
printf '%s\n' '{"order": 1, "sql": "SELECT 1"}' '{"order": 1, "sql": "SELECT 2"}' '{"order": 2, "sql": "SELECT 3"}' \
    >"$tmp/tasks"
lag() { lockstep queue list -o json | jq -r ".[] | select(.name == \"$q\") | .lag"; }
lag_is() { [ "$(lag)" = "$1" ]; }
console_start -s console.login=none

case_begin 'without an executor the lag is not known'
expect 'queue list' "$(lag)" null

case_begin 'it is 0 when all that was published is claimed'
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 2 2>"$tmp/executor.log" &
run=$(lockstep publish --queue "$q" -q "$tmp/tasks")
eventually 30 is "SELECT count(*) FROM lockstep.run WHERE run_id = '$run' AND status = 'Completed'" 1
eventually 30 lag_is 0 || { sql 'SELECT executor_no, ends, queues FROM lockstep.executor'; failed=1; }

case_begin 'it rises while the queue is paused'
lockstep queue pause "$q" --reason test -q
lockstep publish --queue "$q" -q "$tmp/tasks" >/dev/null
lockstep publish --queue "$q" -q "$tmp/tasks" >/dev/null
# Two runs of three messages, with the marks of their transactions.
eventually 30 eval '[ "$(lag)" -ge 6 ]' || { lag; failed=1; }
expect 'as queue show, which asks Kafka' "$(lag)" "$(lockstep queue show "$q" -o json | jq .queue.lag)"
api GET "api/v1/queues/$q"
expect 'in the API' "$(api_is '.queue.lag')" "$(lag)"
api GET api/v1/overview
expect 'on the overview' "$(api_is '.queues[0].lag')" "$(lag)"
expect 'in the views' "$(sql "SELECT topic_end - next_offset
    FROM lockstep.reader_status s JOIN lockstep.queue q ON q.name = s.queue WHERE queue = '$q'")" "$(lag)"

case_begin 'and falls to 0 when it continues'
lockstep queue resume "$q" -q
eventually 30 lag_is 0 || { lag; failed=1; }

case_begin 'an executor reports the memory that it uses'
api GET api/v1/executors
kb=$(awk '/^VmRSS/ { print $2 }' "/proc/$(api_is '.items[0].pid')/status")
expect 'about as the kernel says it' "$(api_is "(.items[0].memory_bytes / 1024 - $kb) | fabs < 16384")" true
expect 'executor list' "$(lockstep executor list -o json | jq '.[0].memory_bytes > 1000000')" true

case_begin 'an executor that no longer beats does not say how far the queue is'
sql "UPDATE lockstep.executor SET frozen_after = '0'" >/dev/null # from now on each heartbeat is too old
expect 'not known' "$(lag)" null
console_stop
cases_end
exit $failed
