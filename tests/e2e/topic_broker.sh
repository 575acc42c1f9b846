#!/bin/bash
# The broker is killed, loses the tail of its log, serves damaged records, is replaced by another cluster: after a restart the
# executor goes on by itself and nothing runs twice; where records are lost or damaged the queue is halted, and says so. Its
# servers are its own.
# ctest: nosan serial timeout=240
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tmp=$(mktemp -d)
chmod 755 "$tmp"
trap 'jobs_end; "$root/scripts/servers" stop "$tmp/servers" >/dev/null; rm -rf "$tmp"' EXIT
"$root/scripts/servers" start "$tmp/servers" >/dev/null
set -a
. "$tmp/servers/env"
set +a
. "$here/../support/shell.bash"
. "$here/../support/broker.bash"
. "$here/ledger.bash"
scratch_database
ledger_create
failed=0
wrong() { echo "$@"; failed=1; }
halted() { [ "$(sql "SELECT halted_reason FROM lockstep.queue WHERE name = '$1'")" = "$2" ]; }
halts() { # QUEUE REASON: and people are told so, with what to do
    eventually 40 halted "$1" "$2" || { wrong "$1: $(sql "SELECT halted_reason, halted_detail FROM lockstep.queue WHERE name = '$1'")"; return; }
    lockstep queue show "$1" -o json -q | jq -e '.queue | .halted_detail != null and (.halted_remedy | contains("lockstep queue resume"))' >/dev/null || wrong "$1: not shown"
    if lockstep check >"$tmp/check"; then wrong "check says all is well"; fi
    grep -q "FAIL  queue $1  *halted since .*($2)" "$tmp/check" || wrong "$1: not in check: $(grep "queue $1" "$tmp/check")"
}
cursor() { [ "$(sql "SELECT next_offset FROM lockstep.queue WHERE name = '$1'")" -ge "$2" ]; }
marked() { [ "$(sql "SELECT count(*) FROM lockstep.queue WHERE name = '$1' AND marked_at IS NOT NULL")" = 1 ]; }
status() { [ "$(sql "SELECT status FROM lockstep.run_status WHERE queue = '$1' ORDER BY run_no DESC LIMIT 1")" = "$2" ]; }
some() { sql "SELECT completed >= $2 FROM lockstep.run_status WHERE queue = '$1' ORDER BY run_no DESC LIMIT 1" | grep -q t; }
tasks() { for ((i = 0; i < $1; i++)); do echo '{"order": 1, "previous_order": 0, "sql": "SELECT 1", "description": "'$2' aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}'; done; }

for q in checksum garbage busy truncated refilled; do lockstep queue create $q -q --create-topic --max-readers 4; done

# Damage on the broker's disk. The rest of the topic is whole.
tasks 2 x | put checksum
tasks 2 x | put garbage -z gzip
segment_damage "$(segment checksum)" crc
segment_damage "$(segment garbage)" garbage
for q in checksum garbage; do
    if "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue $q --readers 2 --until-idle 2>"$tmp/$q.log"; then wrong "$q: the executor ended with 0"; fi
    halts $q corrupt
    cursor $q 1 && wrong "$q: the cursor moved over the damaged record"
    lockstep queue resume $q -q --accept-topic --from-offset 1 --reason 'the record is lost'
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue $q --readers 2 --until-idle 2>>"$tmp/$q.log" || wrong "$q: it does not go on behind the damage"
    cursor $q 2 || wrong "$q: it did not go on behind the damage"
done

# Killed in the middle of a run.
for o in 1 2 3; do
    for ((i = 0; i < 100; i++)); do echo "{\"order\": $o, \"sql\": \"SELECT work('busy', $o, $(((o - 1) * 100 + i)), 0.02)\"}"; done
done >"$tmp/tasks.jsonl"
tasks 3 old | put truncated
tasks 3 old | put refilled
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue busy --queue truncated --queue refilled --readers 4 2>"$tmp/executor.log" &
executor=$!
lockstep publish --queue busy -q "$tmp/tasks.jsonl" >/dev/null
for q in busy truncated refilled; do eventually 20 marked $q; done
eventually 20 some busy 30
broker_kill
broker_start "$tmp/servers"
eventually 40 status busy Completed || wrong 'the run did not end after the broker came back'
message=$(ledger_check busy 4 | grep -v '^a lock is left' || true)
[ -z "$message" ] || wrong "after the broker was killed: $message"
for q in busy truncated refilled; do
    [ -z "$(sql "SELECT halted_detail FROM lockstep.queue WHERE name = '$q'")" ] || wrong "$q was halted by a restart of the broker"
done

# It forgets its last writes; one log is filled again past the cursor before the executor looks.
eventually 10 cursor truncated 3
eventually 10 cursor refilled 3
kill -STOP $executor
broker_kill
segment_keep "$(segment truncated)" 1
segment_keep "$(segment refilled)" 1
broker_start "$tmp/servers"
tasks 5 new | put refilled
kill -CONT $executor
halts truncated truncated
halts refilled fingerprint

# Another cluster answers at the same address.
broker_kill
broker_wipe
broker_start "$tmp/servers"
halts busy other_cluster

kill -TERM $executor
wait $executor || wrong "the executor ended with $?"
# The executor's client has met a cluster without its topics, and librdkafka 2.0.2 sometimes does not end such a one (kafka/handle.c).
! grep kafka_close_abandoned "$tmp"/{checksum,garbage}.log || failed=1
[ $failed = 0 ] || tail -n 30 "$tmp"/*.log
exit $failed
