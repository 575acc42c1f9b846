#!/bin/bash
# A replay into a database without rows stops where it cannot judge or read the records, and continues later without a
# loss: its queue is halted, an open transaction hides records, the topic has grown meanwhile.
# ctest: timeout=120 notsan
. "$(dirname "$0")/../support/e2e.bash"
. "$here/replay.bash"
two=$db # a second database, whose queues are on the same topics
e2e_leave() { local db=$two && scratch_drop; }
scratch_database
one=$db
export LOCKSTEP_PROBE_DIR=$tmp
put() { kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0; }
id() { printf '6f6b2a52-7f4f-4c55-9f2e-94c0b8d2%04d' "$1"; }
task() { # RUN SEQ ORDER PREVIOUS
    printf '{"run": "%s", "seq": %d, "order": %d, "previous_order": %d, "sql": "SELECT 1"}\n' "$(id "$1")" \
        "$2" "$3" "$4"
}
end() { printf '{"run": "%s", "seq": %d, "type": "end"}\n' "$(id "$1")" "$2"; } # RUN SEQ
run() { task "$1" 0 1 0; task "$1" 1 1 0; task "$1" 2 2 1; end "$1" 3; }
# A queue that begins behind the records of standard input.
queue() {
    q=$(scratch_name)
    db=$two lockstep queue create "other$q" -q --create-topic --topic "$q"
    put
    begins
}
begins() {
    lockstep queue create "$q" -q --from-offset latest
    rm -f "$tmp"/replay.step.*
}
# The words of a command that replays all.
everything() {
    again=(replay --queue "$q" --from-offset earliest --to-offset latest --execute --reason again -d "$one"
        -b "$LOCKSTEP_TEST_BROKERS")
}
killed() { # STEP ARGUMENTS...
    local status=0
    LOCKSTEP_PROBE=replay.step=kill@$1 "$LOCKSTEP_BIN-probed" "${@:2}" >/dev/null 2>&1 || status=$?
    expect 'killed' $status 137
}
ended() { # COMMAND...   its exit, and its words are in $tmp/said
    local status=0
    "$@" >/dev/null 2>"$tmp/said" || status=$?
    echo $status
}
of_queue="JOIN lockstep.queue q ON q.queue_id = r.queue_id WHERE q.name ="
rows() {
    sql "SELECT string_agg(t.n || 'x' || t.seq, ' ' ORDER BY 1) FROM (
             SELECT right(r.run_id::text, 1) AS n, string_agg(t.seq::text, ',' ORDER BY t.seq) AS seq
             FROM lockstep.task t JOIN lockstep.run r USING (run_no) $of_queue '$q' GROUP BY 1) t"
}
of_replay() { sql "SELECT r.$1 FROM lockstep.replay r $of_queue '$q' ORDER BY replay_id DESC LIMIT 1"; }

case_begin 'a replay whose queue is halted meanwhile stops, and passes over nothing'
queue < <(run 1; run 2; run 3)
everything
LOCKSTEP_PROBE=replay.step=hold@2 "$LOCKSTEP_BIN-probed" "${again[@]}" >/dev/null 2>"$tmp/said" &
held=$!
eventually 20 test -e "$tmp/replay.step.hit"
sql "UPDATE lockstep.queue SET halted_reason = 'topic_deleted', halted_at = now() WHERE name = '$q'"
touch "$tmp/replay.step.go"
status=0
wait $held || status=$?
number=$(of_replay replay_id)
expect 'stopped' "$status $(of_replay state) $(rows)" '1 Running 1x0,1,2'
grep -q "the queue is halted" "$tmp/said" || { cat "$tmp/said"; failed=1; }
grep -q "hint: .*lockstep queue explain $q. To continue it: lockstep replay --queue $q --resume $number" "$tmp/said" ||
    { cat "$tmp/said"; failed=1; }
sql "UPDATE lockstep.queue SET halted_reason = NULL, halted_at = NULL WHERE name = '$q'"
expect 'continued' "$(ended lockstep replay --queue "$q" --resume "$number") $(of_replay state) $(rows)" \
    '0 Completed 1x0,1,2 2x0,1,2 3x0,1,2'

case_begin 'the same command continues a replay though its topic has grown, up to the end that the replay has'
queue < <(run 1; run 2)
everything
killed 1 "${again[@]}"
run 3 | put
status=$(ended "${again[@]}")
expect 'continued' "$status $(of_replay state) $(of_replay to_offset) $(rows)" '0 Completed 8 1x0,1,2 2x0,1,2'
grep -q 'ends at offset 8; offsets 8 to 12 are not in it' "$tmp/said" ||
    { cat "$tmp/said"; failed=1; }
expect 'the rest' "$(ended "${again[@]}") $(sql "SELECT count(*) FROM lockstep.replay r $of_queue '$q'")" '0 2'

case_begin 'the same command continues a replay of a run that has more records meanwhile'
queue < <(task 1 0 1 0; task 1 1 1 0; task 1 2 2 1)
again=(replay --queue "$q" --run "$(id 1)" --execute --reason again -d "$one" -b "$LOCKSTEP_TEST_BROKERS")
killed 1 "${again[@]}"
{ task 1 3 2 1; end 1 4; } | put
expect 'continued' "$(ended "${again[@]}") $(of_replay state) $(of_replay to_offset) $(rows)" '0 Completed 3 1x0,1,2'

case_begin 'the same command continues a replay of a run whose end has become known'
queue < <(run 1; run 2)
again=(replay --queue "$q" --run "$(id 1)" --execute --reason again -d "$one" -b "$LOCKSTEP_TEST_BROKERS")
killed 3 "${again[@]}"
expect 'continued' "$(ended "${again[@]}") $(of_replay state) $(rows)" '0 Completed 1x0,1,2'

case_begin 'a command that names another end is another replay'
queue < <(run 1; run 2)
everything
killed 1 "${again[@]}"
status=$(ended lockstep replay --queue "$q" --from-offset 0 --to-offset 7 --execute --reason other)
run 3 | put
status+=" $(ended lockstep replay --queue "$q" --from-offset 0 --to-offset 12 --execute --reason other)"
status+=" $(ended "${again[@]}" --mode all)"
expect 'refused' "$status $(of_replay state)" '7 7 7 Running'

# The open transaction of a producer on the topic, and a run behind it.
transaction() {
    rm -f "$tmp"/publish.committing.*
    LOCKSTEP_PROBE=publish.committing=hold "$LOCKSTEP_BIN-probed" publish -d "$two" -b "$LOCKSTEP_TEST_BROKERS" -q \
        --queue "other$q" - <<<'{"order": 1, "sql": "SELECT 1"}' >/dev/null 2>&1 &
    foreign=$!
    eventually 20 test -e "$tmp/publish.committing.hit"
    run 2 | put
}
# A run, such a transaction, and a queue that begins behind all of it.
hidden() {
    q=$(scratch_name)
    db=$two lockstep queue create "other$q" -q --create-topic --topic "$q"
    run 1 | put
    transaction
    begins
    everything
}

case_begin 'a replay waits a moment for the end of a transaction'
hidden
"$LOCKSTEP_BIN" "${again[@]}" >/dev/null 2>"$tmp/said" &
replaying=$!
eventually 20 is "SELECT r.cursor FROM lockstep.replay r $of_queue '$q'" 3 # its end waits for the next record
touch "$tmp/publish.committing.go"
wait $foreign || failed=1
status=0
wait $replaying || status=$?
expect 'whole' "$status $(of_replay state) $(of_replay made)" '0 Completed 10'
[ $status = 0 ] || cat "$tmp/said"

case_begin 'a replay that a transaction held back for a moment only, and that has read its range, is finished'
hidden
LOCKSTEP_PROBE=replay.step=hold@3 "$LOCKSTEP_BIN-probed" "${again[@]}" >/dev/null 2>"$tmp/said" &
replaying=$!
eventually 20 is "SELECT r.cursor FROM lockstep.replay r $of_queue '$q'" 3
run 3 | put # beyond the range, and hidden as well
eventually 20 test -e "$tmp/replay.step.hit" # it has waited in vain
touch "$tmp/publish.committing.go"
wait $foreign || failed=1
touch "$tmp/replay.step.go"
wait $replaying || true
# How much the client has fetched by then is its own affair: it may also be held back once more.
expect 'none is held back that has read all' "$(sql "SELECT count(*) FROM lockstep.replay r $of_queue '$q'
    AND r.state = 'Running' AND r.cursor = r.to_offset")" 0

case_begin 'hidden records that executors will claim hold no replay back'
queue < <(run 1)
transaction
everything
expect 'whole' "$(ended "$LOCKSTEP_BIN" "${again[@]}") $(of_replay state) $(rows)" '0 Completed 1x0,1,2'
expect 'said' "$(grep -c 'from offset 4 on an open transaction' "$tmp/said")" 1
touch "$tmp/publish.committing.go"
wait $foreign || failed=1

# The record behind an unreadable one has its place in the run: the records before it were met
case_begin 'a replay that is interrupted within a run knows that it has met the run'
unreadable() { task "$1" 0 1 0; task "$1" 1 1 0; echo 'no json'; task "$1" 4 1 0; task "$1" 5 2 1; end "$1" 6; }
made() {
    sql "SELECT y.state, y.made, r.status, r.tasks, r.next_seq, r.stop_after
        FROM lockstep.replay y JOIN lockstep.queue q ON q.queue_id = y.queue_id
        JOIN lockstep.run r ON r.queue_id = q.queue_id WHERE q.name = '$q' ORDER BY y.replay_id DESC LIMIT 1"
}
queue < <(unreadable 1)
everything
expect 'not interrupted' "$(ended "${again[@]}")" 0
whole=$(made)
queue < <(unreadable 2)
everything
killed 2 "${again[@]}"
expect 'interrupted' "$(ended "${again[@]}") $(made)" "0 $whole"
grep -q no_beginning "$tmp/said" && failed=1

case_begin 'and so it does if it has only skipped the records of the run'
begun() { # RUN   the run has its first rows
    queue < <(unreadable "$1")
    expect 'begun' "$(ended lockstep replay --queue "$q" --from-offset 0 --to-offset 2 --execute --reason begun)" 0
    rm -f "$tmp"/replay.step.*
    everything
}
begun 1
expect 'not interrupted' "$(ended "${again[@]}")" 0
whole=$(made)
begun 2
killed 2 "${again[@]}"
expect 'interrupted' "$(ended "${again[@]}") $(made)" "0 $whole"

case_begin 'a replay that an open transaction holds back is not finished, and continues behind it'
hidden
expect 'the plan' "$(ended "$LOCKSTEP_BIN" replay --queue "$q" --from-offset earliest -d "$one" \
    -b "$LOCKSTEP_TEST_BROKERS") $(grep -c 'from offset 4 on an open transaction' "$tmp/said")" '0 1'
status=$(ended "${again[@]}")
number=$(of_replay replay_id)
expect 'held back' "$status $(of_replay state) $(of_replay cursor) $(rows)" '7 Running 4 1x0,1,2'
grep -q "records from offset 4 to .* cannot be read" "$tmp/said" || { cat "$tmp/said"; failed=1; }
grep -q "hint: .*To continue it: lockstep replay --queue $q --resume $number" "$tmp/said" ||
    { cat "$tmp/said"; failed=1; }
kill -9 $foreign
wait $foreign 2>/dev/null || true
db=$two lockstep publish --queue "other$q" -q - <<<'{"order": 1, "sql": "SELECT 1"}' >/dev/null 2>&1 # it settles that
expect 'continued' "$(ended lockstep replay --queue "$q" --resume "$number") $(of_replay state) $(rows)" \
    '0 Completed 1x0,1,2 2x0,1,2'

cases_end
exit $failed
