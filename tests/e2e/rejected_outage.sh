#!/bin/bash
# The broker stands still while a relay sends dead letters and events: the rows wait, the executor lives, and each is
# there once afterwards. Then its session is ended under it. Its servers are its own.
# ctest: lock=servers slow nosan
. "$(dirname "$0")/../support/own_servers.bash"
scratch_database
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --events on
bad() { for ((i = $1; i <= $2; i++)); do echo "bad $i"; done | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0; }
letters() {
    kcat -C -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q.rejected" -p 0 -o beginning -e -X isolation.level=read_committed \
        -f '%s\n'
}
empty() { is "SELECT count(*) FROM lockstep.outbox" 0; }
rejected() { is "SELECT count(*) FROM lockstep.rejected" "$1"; }
LOCKSTEP_PROBE=relay.sent=hold@2 LOCKSTEP_PROBE_DIR=$tmp "${LOCKSTEP_BIN}-probed" executor run -d "$db" \
    -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 1 2>"$tmp/log" &
pid=$!
case_begin 'the broker stands still: dead letters and events wait, and each is there once afterwards'
bad 1 2
eventually 30 rejected 2
eventually 30 empty
bad 3 4
eventually 30 test -e "$tmp/relay.sent.hit"
kill -STOP "$LOCKSTEP_TEST_KAFKA_PID"
touch "$tmp/relay.sent.go"
eventually 30 grep -q event=relay_waits "$tmp/log" || failed=1
sleep 1.5 # the end of a trouble of less than a second is not logged
for i in 1 2 3; do # events, too: an operator's action needs no broker
    lockstep queue pause "$q" -q --reason "look $i"
    lockstep queue resume "$q" -q --reason "look $i"
done
kill -CONT "$LOCKSTEP_TEST_KAFKA_PID"
eventually 60 empty || failed=1
expect 'after the broker stood still' "$(letters)" "$(printf 'bad %d\n' 1 2 3 4)"
expect 'events after the broker stood still' "$(kcat -C -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q.events" -p 0 \
    -o beginning -e -X isolation.level=read_committed -f '%s\n' | jq -r '"\(.event) \(.detail)"' | grep look)" \
    "$(for i in 1 2 3; do echo "queue_paused look $i"; echo "queue_resumed look $i"; done)"
eventually 10 grep -q event=relay_is_back "$tmp/log" || failed=1
eventually 10 is 'SELECT count(*) FROM lockstep.relay WHERE trouble IS NOT NULL' 0 || wrong 'trouble is left'

case_begin 'the session of the relay is ended while it sends: each dead letter is there once, in order'
bad 5 6
eventually 30 rejected 6 || failed=1
eventually 30 empty || failed=1
bad 7 60
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'lockstep/relay'" >/dev/null
eventually 60 rejected 60 || failed=1
eventually 60 empty || failed=1
expect 'after its session was ended' "$(letters)" "$(for ((i = 1; i <= 60; i++)); do echo "bad $i"; done)"
told_to_end "$pid"
cases_end
[ $failed = 0 ] || grep -v message_rejected "$tmp/log"
exit $failed
