#!/bin/bash
# The database is frozen for as long as an executor may be (T2, here 4 s), and the clock of the executors' processes
# steps by an hour, forth and back. Neither is a death: no process ends, no executor ends another one, and the run is
# finished, every effect once. Its servers are its own.
# ctest: lock=servers nosan
. "$(dirname "$0")/../support/own_servers.bash"
server=()
e2e_leave() {
    kill -CONT "${server[@]}" 2>/dev/null || true
    own_servers_end "$1"
}
scratch_database
ledger_create
data=$(sql 'SHOW data_directory')
pids_of_server() { local top; top=$(head -n 1 "$data/postmaster.pid"); echo "$top"; pgrep -P "$top"; }
faketime=$(find /usr/lib -name libfaketime.so.1 -print -quit)
[ -n "$faketime" ] || { echo 'libfaketime is missing: scripts/setup'; exit 1; }

q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 6
for o in 1 2 3 4 5 6; do
    for ((i = 0; i < 60; i++)); do
        echo "{\"order\": $o, \"sql\": \"SELECT work('$q', $o, $(((o - 1) * 60 + i)), 0.1)\"}"
    done
done >"$tmp/tasks.jsonl"
echo '+0' >"$tmp/clock"
executors=()
for i in 0 1; do # CLOCK_REALTIME only: the other clocks of a machine do not step
    LOCKSTEP_EXECUTOR_FROZEN_AFTER=4s LD_PRELOAD=$faketime FAKETIME_TIMESTAMP_FILE=$tmp/clock \
        FAKETIME_NO_CACHE=1 DONT_FAKE_MONOTONIC=1 \
        "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 4 2>"$tmp/$i.log" &
    executors+=($!)
done
eventually 20 is 'SELECT count(*) FROM lockstep.executor WHERE ended_at IS NULL' 2
lockstep publish --queue "$q" -q "$tmp/tasks.jsonl" >/dev/null
progress() { [ "$(sql "SELECT completed >= $1 FROM lockstep.run_status WHERE queue = '$q'")" = t ]; }
ended() { sql 'SELECT count(*) FROM lockstep.executor WHERE ended_at IS NOT NULL'; }

case_begin 'the clock of the executors steps by an hour, forth and back, and no incarnation ends'
eventually 20 progress 40
echo '+3600' >"$tmp/clock"
kill -USR1 "${executors[@]}" # their log has their time
for i in 0 1; do eventually 10 grep -q 'event=claims_paused' "$tmp/$i.log"; done
kill -USR2 "${executors[@]}"
for i in 0 1; do eventually 10 grep -q 'event=claims_resumed' "$tmp/$i.log"; done
eventually 10 grep -qE "^ts=($(date -u -d '+60 min' +%FT%H)|$(date -u -d '+61 min' +%FT%H))" "$tmp/0.log" ||
    wrong 'the clock did not step'
eventually 20 progress 100
echo '-3600' >"$tmp/clock"
eventually 20 progress 160
expect 'incarnations that ended by the clock' "$(ended)" 0

case_begin 'when the database stands still for as long as an executor may, no executor ends another and the run ends'
echo '+0' >"$tmp/clock" # a process that starts under libfaketime with a wrong clock waits wrongly in librdkafka
# The whole server is frozen. An executor may give an incarnation up by itself (T1); none is ended by others.
mapfile -t server < <(pids_of_server)
kill -STOP "${server[@]}"
sleep "${LOCKSTEP_TEST_OUTAGE:-4}" # the standstill itself
kill -CONT "${server[@]}"
eventually 60 is "SELECT status FROM lockstep.run_status WHERE queue = '$q'" Completed || failed=1
expect 'frozen, as others saw it' "$(sql "SELECT count(*) FROM lockstep.event_log WHERE event = 'executor_frozen'")" 0
expect 'tasks that failed' "$(sql "SELECT count(*) FROM lockstep.task WHERE status <> 'Completed'")" 0
expect 'attempts of a task that were lost, at most' "$(sql 'SELECT max(lost_num) <= 1 FROM lockstep.task')" t
for pid in "${executors[@]}"; do
    kill -0 "$pid" || wrong 'a process ended'
    told_to_end "$pid"
done
expect 'every effect once, in order' "$(ledger_check "$q" 6)" ''
cases_end
[ $failed = 0 ] || tail -n 20 "$tmp"/*.log
exit $failed
