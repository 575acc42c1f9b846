#!/bin/bash
# The broker is killed, loses the tail of its log, serves damaged records, is replaced by another cluster. After a
# restart the executor continues by itself and nothing runs twice; where records are lost or damaged the queue is halted
# with the reason. Its servers are its own.
# ctest: nosan lock=servers
. "$(dirname "$0")/../support/own_servers.bash"
. "$here/../support/broker.bash"
scratch_database
ledger_create
halted() { [ "$(sql "SELECT halted_reason FROM lockstep.queue WHERE name = '$1'")" = "$2" ]; }
halts() { # QUEUE REASON: and the tools say so, with the remedy
    eventually 40 halted "$1" "$2" ||
        { wrong "$1: $(sql "SELECT halted_reason, halted_detail FROM lockstep.queue WHERE name = '$1'")"; return; }
    lockstep queue show "$1" -o json -q |
        jq -e '.queue | .halted_detail != null and (.halted_remedy | contains("lockstep queue resume"))' >/dev/null ||
        wrong "$1: not shown"
    if lockstep check >"$tmp/check"; then wrong "check says all is well"; fi
    grep -q "FAIL  queue $1  *halted since .*($2)" "$tmp/check" ||
        wrong "$1: not in check: $(grep "queue $1" "$tmp/check")"
}
cursor() { [ "$(sql "SELECT next_offset FROM lockstep.queue WHERE name = '$1'")" -ge "$2" ]; }
marked() { [ "$(sql "SELECT count(*) FROM lockstep.queue WHERE name = '$1' AND marked_at IS NOT NULL")" = 1 ]; }
status() {
    [ "$(sql "SELECT status FROM lockstep.run_status WHERE queue = '$1' ORDER BY run_no DESC LIMIT 1")" = "$2" ]
}
some() {
    sql "SELECT completed >= $2 FROM lockstep.run_status WHERE queue = '$1' ORDER BY run_no DESC LIMIT 1" | grep -q t
}
# take QUEUE N: the N-th command that explain prints for it, as it is printed
take() {
    local command
    command=$(lockstep queue explain "$1" | grep -oP "lockstep queue resume $1\b(?:(?![;,.](?: |$)).)*" | sed -n "$2p")
    eval "$command" >"$tmp/taken" 2>&1 || wrong "$1: refused: $command: $(cat "$tmp/taken")"
}
idle() {
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$1" --readers 2 \
        --until-idle 2>>"$tmp/$1.log" || wrong "$1: it does not go on: $(lockstep queue explain "$1")"
}
done_of() {
    is "SELECT count(*) FROM lockstep.task JOIN lockstep.queue USING (queue_id)
        WHERE queue.name = '$1' AND task.status = 'Completed'" "$2"
}
tasks() {
    for ((i = 0; i < $1; i++)); do
        echo '{"order": 1, "previous_order": 0, "sql": "SELECT 1", "description": "'$2' aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}'
    done
}

for q in checksum garbage busy quiet halted truncated refilled; do
    lockstep queue create $q -q --create-topic --max-readers 4
done

case_begin 'a queue whose records are damaged on the disk is halted, and continues when they are restored or skipped'
tasks 2 x | put checksum
tasks 2 x | put garbage -z gzip
cp "$(segment checksum)" "$tmp/replica"
segment_damage "$(segment checksum)" crc
segment_damage "$(segment garbage)" garbage
for q in checksum garbage; do
    if "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue $q --readers 2 \
        --until-idle 2>"$tmp/$q.log"; then
        wrong "$q: the executor ended with 0"
    fi
    halts $q corrupt
    cursor $q 1 && wrong "$q: the cursor moved over the damaged record"
done
cat "$tmp/replica" >"$(segment checksum)" # restored, as the remedy says
take checksum 1
idle checksum
done_of checksum 2 || wrong 'what was restored did not run'
take garbage 2
tasks 1 y | put garbage
idle garbage
done_of garbage 1 || wrong 'it did not go on behind the damage'

# One executor works while the broker is killed. Another one stands still then: of its queues the broker forgets the
# last writes, and one log is filled again past the cursor before that executor looks.
case_begin 'a broker that is killed and comes back ends no run, and halts no queue whose records are whole'
for o in 1 2 3; do
    for ((i = 0; i < 100; i++)); do
        echo "{\"order\": $o, \"sql\": \"SELECT work('busy', $o, $(((o - 1) * 100 + i)), 0.02)\"}"
    done
done >"$tmp/tasks.jsonl"
for q in quiet truncated refilled; do tasks 3 old | put $q; done
# LOG QUEUES.
executor() { "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --readers 4 "${@:2}" 2>"$tmp/$1.log" & }
sql "UPDATE lockstep.queue SET halted_reason = 'corrupt', halted_detail = 'x', halted_at = now() WHERE name = 'halted'"
executor working --queue busy --queue quiet --queue halted
working=$!
executor still --queue truncated --queue refilled
still=$!
lockstep publish --queue busy -q "$tmp/tasks.jsonl" >/dev/null
for q in busy quiet truncated refilled; do eventually 20 marked $q; done
for q in quiet truncated refilled; do eventually 20 cursor $q 3; done
eventually 20 some busy 30
kill -STOP $still
broker_kill
segment_keep "$(segment truncated)" 1
segment_keep "$(segment refilled)" 1
broker_start "$tmp/servers"
tasks 5 new | put refilled
kill -CONT $still
eventually 40 status busy Completed || wrong 'the run did not end after the broker came back'
message=$(ledger_check busy 4 | grep -v '^a lock is left' || true)
[ -z "$message" ] || wrong "after the broker was killed: $message"
for q in busy quiet; do
    [ -z "$(sql "SELECT halted_detail FROM lockstep.queue WHERE name = '$q'")" ] ||
        wrong "$q was halted by a restart of the broker"
done

case_begin 'a queue is halted when the broker has lost its last records, also when others have taken their places'
halts truncated truncated
halts refilled fingerprint
take truncated 1 # the words of check are REMEDY_TOPIC_TRUNCATED
tasks 2 late | put truncated
eventually 20 done_of truncated 5 || wrong "the truncated queue does not go on: $(lockstep queue explain truncated)"
take refilled 1
eventually 20 done_of refilled 9 || wrong "the refilled queue does not go on: $(lockstep queue explain refilled)"
told_to_end $still
tasks 60 busy | put quiet # the executor, which is connected again, wakes for each
eventually 30 done_of quiet 63 || wrong "the other queue does not go on: $(lockstep queue explain quiet)"
reports=$(grep -c 'event=queue_halted queue=halted' "$tmp/working.log") # two at the start, and one behind the restart
[ "$reports" -le 3 ] || wrong "the queue that is halted was read $reports times"

case_begin 'a queue is halted when another cluster answers at its broker, and accepts it when an operator does'
broker_kill
broker_wipe
broker_start "$tmp/servers"
halts busy other_cluster
lockstep queue create elsewhere -q --topic busy --create-topic
take busy 3
tasks 1 there | put busy
eventually 20 done_of busy 301 || wrong "on the other cluster it does not go on: $(lockstep queue explain busy)"

told_to_end $working
# The executor's client has met a cluster without its topics, and librdkafka 2.0.2 sometimes does not end such a one
# (kafka/handle.c).
! grep kafka_close_abandoned "$tmp"/{checksum,garbage}.log || wrong 'a client of Kafka could not be closed'
cases_end
[ $failed = 0 ] || tail -n 30 "$tmp"/*.log
exit $failed
