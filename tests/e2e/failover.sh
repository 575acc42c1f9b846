#!/bin/bash
# The primary dies with commits that its standby does not have, and the standby is promoted. The executors find it,
# notice how far the cursor went back, and finish, in order, every effect once. Then the old primary comes back, and no
# executor works there.
# ctest: nosan timeout=180
. "$(dirname "$0")/../support/begin.bash"
. "$here/../support/cluster.bash"
e2e_leave() { cluster_close; }
cluster_open
pg_init a checkpoint_timeout=1h
pg_start a
db=$(pg_conninfo a)
"$LOCKSTEP_BIN" migrate up -q -d "$db" >/dev/null
ledger_create
hold_create
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 6
pg_standby a b
pg_start b

daemon() { # LOG CONNINFO
    "$LOCKSTEP_BIN" executor run -d "$2" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 3 2>>"$tmp/$1.log" &
    executors+=($!)
}
publish() { # FIRST_ORDER SECONDS: for a task; one of the second phase waits until it is let go
    local i held
    base=$1
    for ((i = 0; i < 800; i++)); do
        held=''
        [ "$i" != 150 ] || held="hold('$base'), "
        echo "{\"order\": $((base + i / 100)), \"sql\": \"SELECT ${held}work('$q', $((base + i / 100)), $i, $2)\"}"
    done >"$tmp/tasks.jsonl"
    run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
}
effects() { [ "$(sql "SELECT count(*) >= $1 FROM ledger WHERE ord >= $base" 2>/dev/null)" = t ]; }
completed() { [ "$(sql "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" 2>/dev/null)" = Completed ]; }
living() {
    [ "$(sql 'SELECT count(*) FROM lockstep.executor
        WHERE ended_at IS NULL AND lockstep.executor_lives(executor_no)' 2>/dev/null)" = "$1" ]
}
let_go() { sql "INSERT INTO let_go VALUES ('$base')"; }
judge() {
    eventually 40 completed || { failed=1; lockstep run show "$run"; }
    expect "$1" "$(ledger_check "$q" 6 | grep -v '^a lock is left' || true)" ''
    expect "$1: effects" "$(sql "SELECT count(*) FROM ledger WHERE ord >= $base")" 800
}

# Two know both servers; one knows an address that leads to the one or to the other; one knows the standby only, and
# waits.
mkdir "$cluster/address"
lead_to() { ln -sfn "$cluster/.s.PGSQL.${pg_ports[$1]}" "$cluster/address/.s.PGSQL.6000"; }
lead_to a
address="host=$cluster/address port=6000 user=lockstep_test dbname=postgres"
daemon both1 "$(pg_conninfo a b)"
daemon both2 "$(pg_conninfo a b)"
daemon address "$address"
daemon standby "$(pg_conninfo b)"
"$LOCKSTEP_BIN" scheduler run -d "$(pg_conninfo a b)" 2>"$tmp/scheduler.log" &
scheduler=$!
eventually 20 living 3
eventually 20 grep -q 'event=dispatching' "$tmp/scheduler.log"
eventually 20 grep -q 'event=incarnation_lost.*standby' "$tmp/standby.log"
case_begin 'a standby names the reasons that it cannot explain'
# A command that reads the standby says so first, and nothing of executors that it cannot see.
"$LOCKSTEP_BIN" queue explain "$q" -d "$(pg_conninfo b)" -b "$LOCKSTEP_TEST_BROKERS" >"$tmp/explained"
grep -q '^this server is a standby: the executors' <(head -1 "$tmp/explained") &&
    grep -q 'Ask the primary' <(sed -n 2p "$tmp/explained") && ! grep -q 'no executor' "$tmp/explained" ||
    { cat "$tmp/explained"; failed=1; }
"$LOCKSTEP_BIN" check -d "$(pg_conninfo b)" -b "$LOCKSTEP_TEST_BROKERS" >"$tmp/checked" || true
grep -q '^FAIL  primary .*the server is a standby' "$tmp/checked" || { cat "$tmp/checked"; failed=1; }

case_begin 'a cut-off standby becomes the primary'
publish 1 0.03
eventually 30 effects 100
pg_set b primary_conninfo=
eventually 10 is 'SELECT count(*) FROM pg_stat_replication' 0
before=$(pg_sql b 'SELECT count(*) FROM ledger')
let_go # on the primary alone
eventually 30 effects $((before + 150))
pg_crash a
pg_promote b
lead_to b
db=$(pg_conninfo b)
let_go
judge 'after the fail-over'
eventually 20 living 4
for log in both1 both2 address; do
    grep -q 'event=failed_over .*timeline_was=1 timeline=2 cursor_was=' "$tmp/$log.log" ||
        { echo "$log did not say that it failed over"; failed=1; }
done
case_begin 'the cursor and the effects went back together'
# The cursor went back, and so did the effects: commits of the dead primary are lost, nothing of a claim is.
gone=$(sed -n 's/.*event=failed_over .*cursor_was=\([0-9]*\) cursor=\([0-9]*\).*/\1 \2/p' "$tmp"/*.log |
    awk '$1 > $2' | wc -l)
[ "$gone" -gt 0 ] ||
    { echo 'no cursor went back: this proves nothing'; grep -h event=failed_over "$tmp"/*.log; failed=1; }
sed -n 's/.*event=failed_over queue=[^ ]* /failed over: /p' "$tmp"/*.log
eventually 40 grep -q 'event=dispatcher_is_back' "$tmp/scheduler.log" ||
    { echo 'the scheduler did not come back'; failed=1; }
expect 'the event' "$(sql "SELECT string_agg(detail, ';') FROM lockstep.event_log WHERE event = 'failed_over'")" \
    'timeline 1 -> 2'

case_begin 'the old primary comes back first in the list, and executors stay with the new one'
# The old primary is there again, first in the list, and takes writes. An executor that connects again gets the new one
# all the same; one that is led to the old one waits.
pg_start a
lead_to a
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lockstep/control'" >/dev/null
eventually 20 grep -q 'event=incarnation_lost.*timeline 1, but timeline 2' "$tmp/address.log" || failed=1
publish 101 0.004
let_go
judge 'with an old primary'
eventually 20 living 3 || failed=1
pg_sql b \
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lockstep/dispatcher'" >/dev/null
returns() { [ "$(grep -c 'event=dispatcher_is_back' "$tmp/scheduler.log")" -ge "$1" ]; }
eventually 40 returns 2 || { echo 'the scheduler did not come back to the new primary'; failed=1; }
expect 'dispatchers on the old primary' \
    "$(pg_sql a "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lockstep/dispatcher'")" 0
expect 'work on the old primary' "$(pg_sql a \
    'SELECT count(*) FROM lockstep.executor e WHERE ended_at IS NULL AND lockstep.executor_lives(executor_no)')" 0
lead_to b
eventually 20 living 4 || failed=1

kill -TERM "$scheduler"
wait "$scheduler" || { echo "the scheduler ended with $?"; failed=1; }
for pid in "${executors[@]}"; do kill -TERM "$pid"; done
for pid in "${executors[@]}"; do wait "$pid" || { echo "an executor ended with $?"; failed=1; }; done
cases_end
[ $failed = 0 ] || tail -n 20 "$tmp"/*.log
exit $failed
