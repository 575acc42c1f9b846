#!/bin/bash
# Idle means idle: an executor at the end of its topic does next to nothing, in the database and on the processor; also
# while a long task runs, with the end of the topic read.
# ctest: timeout=90 nosan
. "$(dirname "$0")/../support/e2e.bash"
ledger_create
ticks() { awk '{print $14 + $15}' "/proc/$1/stat"; }
# quiet WHAT SECONDS MOST_TICKS: processor time of the executor, in hundredths of a second, over a stretch of time
quiet() {
    local before
    before=$(ticks "$pid")
    sleep "$2" # the stretch that is measured
    local used=$(($(ticks "$pid") - before))
    echo "$1: $used hundredths of a second of processor time in $2 s"
    [ "$used" -le "$3" ] || failed=1
}
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 2 2>"$tmp/log" &
pid=$!
run=$(echo '{"order": 1, "sql": "SELECT 1"}' | lockstep publish --queue "$q" -q -)
eventually 15 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Completed
eventually 10 is "SELECT next_offset FROM lockstep.queue WHERE name = '$q'" 3 # past the commit marker
case_begin 'an executor at the end of its topic uses next to no processor time'
quiet idle 3 8
case_begin 'an executor that waits for a long task uses next to no processor time'
run=$(echo '{"order": 1, "sql": "SELECT pg_sleep(3)"}' | lockstep publish --queue "$q" -q -)
eventually 15 is "SELECT processing FROM lockstep.run_status WHERE run_id = '$run'" 1
quiet 'a long task' 2 10
told_to_end "$pid"

case_begin 'an executor that is to end when everything is done names the work that it waits for'
waits() { # REASON COMMAND...: its sentence, and the command that ends it
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 1 \
        --until-idle 2>"$tmp/waits" &
    pid=$!
    eventually 15 grep -q "event=idle_waits queue=$q reason=\"$1\"" "$tmp/waits" || { cat "$tmp/waits"; failed=1; }
    lockstep "${@:2}" -q
    wait "$pid" || wrong "the executor ended with $?"
}
lockstep queue set "$q" -q --max-readers 0
echo '{"order": 1, "sql": "SELECT 1"}' | lockstep publish --queue "$q" -q - >/dev/null
waits 'max_readers of the queue is 0' queue set "$q" --max-readers 1
lockstep queue pause "$q" -q
echo '{"order": 1, "sql": "SELECT 1"}' | lockstep publish --queue "$q" -q - >/dev/null
waits 'the queue is paused' queue resume "$q"
cases_end
exit $failed
