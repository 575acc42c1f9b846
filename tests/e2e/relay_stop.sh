#!/bin/bash
# The broker is frozen while the relay sends for three queues. An executor that gets SIGTERM then stops, and one that
# has lost its database session comes back: neither waits for Kafka once for each queue. Afterwards each event is there
# once, in order. Its servers are its own.
# ctest: lock=servers nosan
. "$(dirname "$0")/../support/own_servers.bash"
scratch_database
queues=()
for i in 1 2 3; do
    q=$(scratch_name)
    queues+=("$q")
    lockstep queue create "$q" -q --create-topic --events on
done
empty() { is "SELECT count(*) FROM lockstep.outbox" 0; }
look() {
    for q in "${queues[@]}"; do
        lockstep queue pause "$q" -q --reason "look $1" && lockstep queue resume "$q" -q --reason "look $1"
    done
}
start() { # LOG
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "${queues[0]}" --queue "${queues[1]}" \
        --queue "${queues[2]}" --readers 1 2>"$1" &
    pid=$!
    eventually 30 grep -q event=executor_started "$1"
}
relay_of() { for q in "${queues[@]}"; do grep -q "event=relayed queue=$q" "$1" || return 1; done; }
# The producers of all three queues are open, and the next records meet a frozen broker.
freeze() { # LOG N
    look "$2"
    eventually 30 relay_of "$1"
    eventually 30 empty
    kill -STOP "$LOCKSTEP_TEST_KAFKA_PID"
    look "$2 frozen"
    sleep 1
}
# Rows that are known to wait have 5 s when an executor stops, and no time when it is lost; the rest is to spare. One
# batch may wait for 10 s.
soon() { # FROM WHAT
    [ $((SECONDS - $1)) -le 12 ] || { echo "$2 after $((SECONDS - $1)) s"; failed=1; }
}

case_begin 'an executor that gets SIGTERM ends soon, though the broker stands still'
start "$tmp/first"
freeze "$tmp/first" 1
from=$SECONDS
kill -TERM $pid
eventually 90 gone $pid
soon "$from" 'it stops'
kill -CONT "$LOCKSTEP_TEST_KAFKA_PID"
ends_well $pid

case_begin 'an executor that loses its control session starts again soon, though the broker stands still'
start "$tmp/second"
eventually 60 empty || failed=1
freeze "$tmp/second" 2
from=$SECONDS
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'lockstep/control'" >/dev/null
eventually 90 incarnations "$tmp/second" 2
soon "$from" 'it is back'
kill -CONT "$LOCKSTEP_TEST_KAFKA_PID"

case_begin 'each event is there once, in order'
eventually 90 empty || failed=1
told_to_end $pid
for q in "${queues[@]}"; do
    expect "events of $q" "$(kcat -C -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q.events" -p 0 -o beginning -e \
        -X isolation.level=read_committed -f '%s\n' | jq -r '"\(.event) \(.detail)"' | grep look)" \
        "$(for i in '1' '1 frozen' '2' '2 frozen'; do echo "queue_paused look $i"; echo "queue_resumed look $i"; done)"
done
cases_end
[ $failed = 0 ] || tail -n 30 "$tmp/first" "$tmp/second"
exit $failed
