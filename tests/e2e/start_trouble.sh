#!/bin/bash
# Starts that do not succeed, without a fault of the configuration: a later incarnation cannot make its client of Kafka,
# and tries again; the server falls silent under a first start, which waits for it; SIGTERM comes meanwhile.
# ctest: timeout=120 long
. "$(dirname "$0")/../support/e2e.bash"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 1

case_begin 'a later incarnation that cannot make a client of Kafka reports it and tries again'
# The calls of the first incarnation are counted; the next one's first call fails.
LOCKSTEP_INJECT_COUNT=$tmp/counts LOCKSTEP_INJECT=rd_kafka_new=1000000 \
    "$LOCKSTEP_BIN-probed" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 1 \
    --until-idle 2>/dev/null
calls=$(sed -n 's/^rd_kafka_new //p' "$tmp/counts")
: >"$tmp/log"
: >"$tmp/injected"
LOCKSTEP_INJECT=rd_kafka_new=$((calls + 1)) LOCKSTEP_INJECT_LOG=$tmp/injected \
    "$LOCKSTEP_BIN-probed" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 1 2>>"$tmp/log" &
pid=$!
lose() {
    [ "$(sql "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'lockstep/control'")" = 1 ]
}
eventually 20 incarnations "$tmp/log" 1
for i in 2 3 4 5; do # how many clients an incarnation has made when it is ended is a matter of time
    [ -s "$tmp/injected" ] || { eventually 10 lose && eventually 20 incarnations "$tmp/log" $i; }
done
expect 'clients that could not be made' "$(cat "$tmp/injected")" "rd_kafka_new $((calls + 1))"
expect 'what was told' "$(grep -c 'cannot start a client: injected' "$tmp/log")" 1
told_to_end $pid
[ $failed = 0 ] || tail -n 20 "$tmp/log"

case_begin 'an executor whose server falls silent at its first start waits for the server'
mkfifo "$tmp/network"
touch "$tmp/links"
"$here/../torture/proxy.py" "$tmp/network" \
    "server=0:127.0.0.1:$(sed -n 's/.* port=\([0-9]*\) .*/\1/p' <<<"$LOCKSTEP_TEST_PG")" \
    "broker=0:127.0.0.1:${LOCKSTEP_TEST_BROKERS##*:}" >"$tmp/links" &
eventually 10 grep -q '^ready' "$tmp/links"
via="host=127.0.0.1 port=$(sed -n 's/^server //p' "$tmp/links") user=lockstep_test dbname=${db##*dbname=}"
LOCKSTEP_PROBE=start.enrolled=hold LOCKSTEP_PROBE_DIR=$tmp LOCKSTEP_EXECUTOR_FROZEN_AFTER=2s \
    "$LOCKSTEP_BIN-probed" executor run -d "$via" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 1 2>"$tmp/silent" &
pid=$!
eventually 20 test -f "$tmp/start.enrolled.hit"
echo "server cut" >"$tmp/network"
touch "$tmp/start.enrolled.go"
eventually 20 grep -q incarnation_lost "$tmp/silent" || failed=1
echo "server heal" >"$tmp/network"
eventually 30 grep -q executor_started "$tmp/silent" || failed=1
kill -TERM $pid
rc=0
wait $pid || rc=$?
expect 'a server that is silent for a while' "$rc" 0
[ "$rc" = 0 ] || tail -n 5 "$tmp/silent"

case_begin 'an executor that gets SIGTERM while it starts checks no more than one further queue'
# The broker answers no client, so that each queue takes its time.
echo "broker cut" >"$tmp/network"
queues=()
for i in 1 2 3 4 5; do
    queues+=(--queue "$q.$i")
    lockstep queue create "$q.$i" -q --create-topic
done
"$LOCKSTEP_BIN" executor run -d "$db" -b "127.0.0.1:$(sed -n 's/^broker //p' "$tmp/links")" "${queues[@]}" --readers 1 \
    2>"$tmp/waiting" &
pid=$!
eventually 20 grep -qs topic_not_checked "$tmp/waiting"
kill -TERM $pid
rc=0
wait $pid || rc=$?
looked=$(grep -c topic_not_checked "$tmp/waiting")
expect 'told to stop while it starts' "$rc, $((looked <= 2)) ($looked looked at)" "0, 1 ($looked looked at)"

case_begin 'an executor that gets SIGTERM while its login is refused ends with 0'
login=$(scratch_name)
e2e_roles+=("$login")
sql "CREATE ROLE $login LOGIN IN ROLE lockstep_executor"
"$LOCKSTEP_BIN" executor run -d "$db user=$login" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 1 \
    2>"$tmp/refused" &
pid=$!
eventually 20 grep -q executor_started "$tmp/refused"
sql "ALTER ROLE $login NOLOGIN"
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '$login'" >/dev/null
eventually 20 grep -q 'incarnation_lost.*not permitted to log in' "$tmp/refused" || failed=1
kill -TERM $pid
rc=0
wait $pid || rc=$?
expect 'stopped during an outage' "$rc" 0
[ "$rc" = 0 ] || tail -n 5 "$tmp/refused"
cases_end
exit $failed
