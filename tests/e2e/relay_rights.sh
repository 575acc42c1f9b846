#!/bin/bash
# The executor's login is a member of lockstep_executor and nothing else, as the page about installing has it: events
# come to their topic. A statement of the relay that is refused, or that waits for a row of another session, holds up
# its own kind only, and says so.
# ctest: nosan timeout=180
. "$(dirname "$0")/../support/e2e.bash"
login=$(scratch_name) a=$(scratch_name) b=$(scratch_name)
e2e_roles+=("$login")
sql "CREATE ROLE $login LOGIN; GRANT lockstep_executor TO $login"
lockstep queue create "$a" -q --create-topic --events on
lockstep queue create "$b" -q --create-topic --events off
"$LOCKSTEP_BIN" executor run -d "$db user=$login" -b "$LOCKSTEP_TEST_BROKERS" --queue "$a" --queue "$b" --readers 2 \
    2>"$tmp/log" &
pid=$!
records() {
    kcat -C -q -b "$LOCKSTEP_TEST_BROKERS" -t "$1" -p 0 -o beginning -e -X isolation.level=read_committed \
        -f '%s\n' 2>/dev/null
}
events() { [ "$(records "$a.events" | jq -r 'select(.event == "run_ended").status' | paste -sd' ')" = "$1" ]; }
publish() { echo '{"order": 1, "sql": "SELECT 1"}' | lockstep publish --queue "$a" -q --wait - >/dev/null; }

case_begin 'events of a login that is only lockstep_executor'
publish
eventually 30 events Completed || { failed=1; tail "$tmp/log"; }

case_begin 'a right that is missing holds up the events of one queue, not what another queue sends'
sql 'REVOKE EXECUTE ON FUNCTION lockstep.event_message(bigint) FROM lockstep_executor'
publish
eventually 30 grep -q 'event=relay_waits .*event_message' "$tmp/log" || { failed=1; tail "$tmp/log"; }
sql "SELECT lockstep.enqueue('$b', ARRAY['{\"order\": 1, \"sql\": \"SELECT 1\"}'::jsonb])" >/dev/null
eventually 20 is "SELECT status FROM lockstep.run_status WHERE queue = '$b'" Completed || { failed=1; tail "$tmp/log"; }
trouble=$(lockstep queue show "$a" -o json | jq -r '.queue.outbox_trouble')
[[ $trouble == *'permission denied for function event_message'* ]] || wrong "the trouble of the queue: $trouble"
lockstep check >"$tmp/check" || true
grep -q "$a.*permission denied for function event_message" "$tmp/check" || wrong "$(cat "$tmp/check")"

case_begin 'with the right back, the events follow'
sql 'GRANT EXECUTE ON FUNCTION lockstep.event_message(bigint) TO lockstep_executor'
eventually 60 events 'Completed Completed' || { failed=1; tail "$tmp/log"; }
eventually 10 is 'SELECT count(*) FROM lockstep.relay WHERE trouble IS NOT NULL' 0 ||
    wrong 'the trouble is still noted'

case_begin 'a row that another session holds holds up one kind, not what another queue sends'
publish
eventually 30 events 'Completed Completed Completed' || { failed=1; tail "$tmp/log"; }
session_open BEGIN "SELECT FROM lockstep.relay r JOIN lockstep.queue q USING (queue_id)
    WHERE q.name = '$a' AND r.kind = 'events' FOR UPDATE OF r"
publish
eventually 30 grep -q 'event=relay_waits .*lock timeout' "$tmp/log" || { failed=1; tail "$tmp/log"; }
lost=$(grep -c 'event=relay_lost' "$tmp/log" || true)
for n in 1 2 3; do
    run=$(sql "SELECT lockstep.enqueue('$b', ARRAY['{\"order\": 1, \"sql\": \"SELECT 1\"}'::jsonb])")
    eventually 10 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Completed ||
        { failed=1; tail "$tmp/log"; }
done
expect 'sessions that the relay lost' "$(grep -c 'event=relay_lost' "$tmp/log" || true)" "$lost"
sleep 1.5 # the end of a trouble of less than a second is not logged
session_close
eventually 60 events 'Completed Completed Completed Completed' || { failed=1; tail "$tmp/log"; }
eventually 10 grep -q 'event=relay_is_back' "$tmp/log" || wrong 'no line says that the relay is back'
kill -TERM "$pid"
wait "$pid" || wrong "the executor ended with $?"

case_begin 'a run that was sent late makes the queue due no more, while its events are refused'
sql 'REVOKE EXECUTE ON FUNCTION lockstep.event_message(bigint) FROM lockstep_executor'
LOCKSTEP_PROBE=enqueue.sent=sleep:1200 "$LOCKSTEP_BIN-probed" executor run -d "$db user=$login" \
    -b "$LOCKSTEP_TEST_BROKERS" --queue "$a" --readers 2 2>"$tmp/log" &
pid=$!
run=$(sql "SELECT lockstep.enqueue('$a', ARRAY['{\"order\": 1, \"sql\": \"SELECT 1\"}'::jsonb])")
eventually 30 is "SELECT status FROM lockstep.run WHERE run_id = '$run'" Completed || { failed=1; tail "$tmp/log"; }
eventually 30 grep -q 'event=relay_waits .*event_message' "$tmp/log" || { failed=1; tail "$tmp/log"; }
commits() { sql 'SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()'; }
before=$(commits)
sleep 4 # the observation itself: a relay that span made 13,000 a second
made=$(($(commits) - before))
[ "$made" -lt 4000 ] || wrong "the executor made $made transactions in 4 s"
kill -TERM "$pid"
wait "$pid" || wrong "the executor ended with $?"
cases_end
exit $failed
