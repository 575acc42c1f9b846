#!/bin/bash
# The database is away for longer than T2 (here 4 s) and comes back, then the broker is. The executors continue by
# themselves, in order, every effect once. Its servers are its own.
# ctest: nosan lock=servers
. "$(dirname "$0")/../support/own_servers.bash"
scratch_database
ledger_create
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 6
for o in 1 2 3 4 5; do
    for ((i = 0; i < 120; i++)); do
        echo "{\"order\": $o, \"sql\": \"SELECT work('$q', $o, $(((o - 1) * 120 + i)), 0.03)\"}"
    done
done >"$tmp/tasks.jsonl"
status() {
    [ "$(sql "SELECT $1 FROM lockstep.run_status WHERE queue = '$q' ORDER BY run_no DESC LIMIT 1" 2>/dev/null)" = \
        "$2" ]
}
progress() {
    [ "$(sql "SELECT completed >= $1 FROM lockstep.run_status WHERE queue = '$q' ORDER BY run_no DESC
        LIMIT 1" 2>/dev/null)" = t ]
}
# An executor that comes to the end of the topic before the run is there must not end: no --until-idle here.
for i in 0 1; do
    LOCKSTEP_EXECUTOR_FROZEN_AFTER=4s "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" \
        --readers 4 2>"$tmp/$i.log" &
    executors+=($!)
done

case_begin 'the database goes away and comes back: the executors continue by themselves, in order, every effect once'
lockstep publish --queue "$q" -q "$tmp/tasks.jsonl" >/dev/null
eventually 30 progress 100
data=$(sql 'SHOW data_directory')
as() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid "$(stat -c %u "$data")" --regid "$(stat -c %g "$data")" --clear-groups "$@"
    else
        "$@"
    fi
}
options=$(sed -n 's/^[^ ]* //p' "$data/postmaster.opts")
as "$LOCKSTEP_TEST_PGBIN/pg_ctl" -D "$data" -m immediate -w stop >/dev/null
sleep "${LOCKSTEP_TEST_OUTAGE:-5}" # the outage itself, not a wait for something
eval "as \"$LOCKSTEP_TEST_PGBIN/pg_ctl\" -D \"$data\" -w -l \"$LOCKSTEP_TEST_HOME/postgres.log\" -o \"${options//\"/\\\"}\" start >/dev/null"
eventually 40 status status Completed || failed=1
for i in 0 1; do # ever later, and an end
    lines=$(grep -c event=incarnation_lost "$tmp/$i.log")
    over() { grep -q 'event=outage_over .*lasted_ms=[0-9]\{4,\}' "$tmp/$i.log"; }
    eventually 10 over || failed=1
    echo "executor $i logged $lines lost incarnations"
    [ "$lines" -le 8 ] || wrong "$lines lines of the log are about one outage"
done
expect 'what is wrong after the database came back' "$(ledger_check "$q" 6 | grep -v '^a lock is left' || true)" ''

case_begin 'the broker stands still while a run is under way: it ends, and another one is published and ends'
sql 'TRUNCATE ledger'
lockstep publish --queue "$q" -q "$tmp/tasks.jsonl" >/dev/null
eventually 30 progress 50
kill -STOP "$LOCKSTEP_TEST_KAFKA_PID"
sleep "${LOCKSTEP_TEST_OUTAGE:-5}"
kill -CONT "$LOCKSTEP_TEST_KAFKA_PID"
eventually 40 status status Completed || failed=1
# The controller may hold the broker for dead until it has answered: then there is no leader, and nothing is published.
publishes() {
    lockstep publish --queue "$q" -q "$tmp/tasks.jsonl" >/dev/null 2>"$tmp/refused" ||
        { grep -q 'try again in a moment' "$tmp/refused" || cat "$tmp/refused"; return 1; }
}
eventually 60 publishes || failed=1
eventually 40 status status Completed || failed=1
expect 'effects of two runs' "$(sql "SELECT count(*), count(DISTINCT seq) FROM ledger WHERE q = '$q'")" '1200|600'
told_to_end "${executors[@]}"
cases_end
[ $failed = 0 ] || tail -n 20 "$tmp"/*.log
exit $failed
