#!/bin/bash
# A replay that is killed between two steps, or loses its session, continues and does nothing twice. A queue has one
# replay at a time.
# ctest: timeout=120 notsan
. "$(dirname "$0")/../support/e2e.bash"
. "$here/replay.bash"
replay_create
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4
for tag in a b c; do
    tasks $tag 10:6 20:300 30:6 40:6 >"$tmp/work.jsonl" # 300: more than one step
    lockstep publish --queue "$q" -q "$tmp/work.jsonl" >/dev/null
done
executors 2 "$q" 4
executors_wait || failed=1
expect 'before' "$(effects a) $(effects b) $(effects c)" '1x318 1x318 1x318'
again=(replay --queue "$q" --from-offset earliest --to-offset latest --mode all --execute --reason 'again' -d "$db" -b
    "$LOCKSTEP_TEST_BROKERS")

case_begin 'a killed replay keeps another one away'
status=0
LOCKSTEP_PROBE=replay.step=kill@3 "${LOCKSTEP_BIN}-probed" "${again[@]}" >/dev/null 2>&1 || status=$?
expect 'killed' \
    "$status $(sql "SELECT state, cursor > from_offset AND cursor < to_offset, reopened FROM lockstep.replay")" \
    '137 Running|t|306'
status=0
lockstep replay --queue "$q" --from-offset 0 --to-offset 9 --mode all --execute --reason 'another' >/dev/null \
    2>"$tmp/said" || status=$?
expect 'another one' "$status $(grep -c 'replay 1 of this queue is not finished' "$tmp/said")" '7 1'
expect 'a run that it has in hand does not end' \
    "$(sql "SELECT count(*) FROM lockstep.run WHERE replay_id = 1 AND ended_at IS NULL")" 1

case_begin 'the same command continues a replay that is killed again and again'
executors 2 "$q" 4
kills=0
until LOCKSTEP_PROBE=replay.step=kill@2 "${LOCKSTEP_BIN}-probed" "${again[@]}" >/dev/null 2>"$tmp/said"; do
    kills=$((kills + 1))
    [ $kills -lt 30 ] || { cat "$tmp/said"; break; }
done
[ $kills -gt 3 ] || { echo "killed $kills times only"; failed=1; }
executors_wait || failed=1
executors 2 "$q" 4 # those before may have been idle for a moment between two kills
executors_wait || failed=1
expect 'each effect once more' "$(effects a) $(effects b) $(effects c)" '2x318 2x318 2x318'
expect 'it says what it did in all' \
    "$(sql "SELECT state, made, reopened, cursor = to_offset FROM lockstep.replay WHERE replay_id = 1")" \
    'Completed|0|954|t'
expect 'the runs have ended' \
    "$(sql "SELECT string_agg(DISTINCT status, ' ') FROM lockstep.run WHERE replay_id IS NULL")" Completed

case_begin 'a replay whose session is ended says how to continue'
export LOCKSTEP_PROBE_DIR=$tmp
LOCKSTEP_PROBE=replay.step=hold@2 "${LOCKSTEP_BIN}-probed" "${again[@]}" >/dev/null 2>"$tmp/said" &
held=$!
eventually 20 test -e "$tmp/replay.step.hit"
status=0
"${LOCKSTEP_BIN}" "${again[@]}" >/dev/null 2>"$tmp/other" || status=$?
expect 'one session drives it' "$status $(grep -c 'another session is replaying this queue' "$tmp/other")" '7 1'
sql "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'lockstep/cli'" >/dev/null
touch "$tmp/replay.step.go"
status=0
wait $held || status=$?
expect 'its session is gone' "$status $(grep -c -- '--resume 2' "$tmp/said")" '3 1'

case_begin 'the work of an abandoned replay stays done'
lockstep replay --queue "$q" --abandon 2 2>/dev/null || failed=1
expect 'given up' "$(sql "SELECT state FROM lockstep.replay WHERE replay_id = 2")" Abandoned
executors 1 "$q" 4
executors_wait || failed=1
expect 'what it did is run, and nothing else' "$(effects a) $(effects b) $(effects c)" '2x56 3x262 2x318 2x318'
expect 'the run has ended' "$(sql "SELECT string_agg(DISTINCT status, ' ') FROM lockstep.run")" Completed
status=0
lockstep replay --queue "$q" --resume 2 >/dev/null 2>"$tmp/said" || status=$?
expect 'it cannot go on' "$status $(grep -c 'replay 2 has ended' "$tmp/said")" '2 1'

case_begin 'a replay that meets a held row ends, and says how to continue'
rm -f "$tmp"/replay.step.*
LOCKSTEP_PROBE=replay.step=hold@2 "${LOCKSTEP_BIN}-probed" "${again[@]}" >/dev/null 2>"$tmp/said" &
held=$!
eventually 20 test -e "$tmp/replay.step.hit"
session_open BEGIN "SELECT FROM lockstep.queue WHERE name = '$q' FOR UPDATE"
touch "$tmp/replay.step.go"
eventually 30 gone $held || { failed=1; kill -9 $held; }
status=0
wait $held || status=$?
expect 'refused' "$status $(grep -c "Backend $backend holds it .*To continue it: .*--resume 3" "$tmp/said")" '1 1'
echo 'COMMIT;' >&"$session"
session_close
eventually 10 session_gone
executors 2 "$q" 4
lockstep replay --queue "$q" --resume 3 >/dev/null 2>"$tmp/said" || { cat "$tmp/said"; failed=1; }
executors_wait || failed=1
expect 'continued' "$(sql 'SELECT state, reopened FROM lockstep.replay WHERE replay_id = 3')" 'Completed|954'
cases_end
exit $failed
