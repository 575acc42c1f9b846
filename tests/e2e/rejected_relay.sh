#!/bin/bash
# Dead letters: each rejected message once and in order on the dead-letter topic, wherever its relay is killed or
# frozen, with several executors, and when the topic is not available.
# ctest: slow nosan timeout=180 long
. "$(dirname "$0")/../support/e2e.bash"
put() { kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$1" -p 0; }
bad() { # QUEUE FROM TO
    local i
    for ((i = $2; i <= $3; i++)); do echo "bad $i"; done | put "$1"
}
# letters QUEUE: value and relay_seq of each dead letter, in order of the topic
letters() {
    kcat -C -q -b "$LOCKSTEP_TEST_BROKERS" -t "$1.rejected" -p 0 -o beginning -e -X isolation.level=read_committed \
        -f '%s %h\n' 2>/dev/null |
        sed -E 's/^(bad [0-9]+) .*lockstep-relay-seq=([0-9]+).*/\1 \2/'
}
wanted() { for ((i = 1; i <= $1; i++)); do echo "bad $i $i"; done; }
empty() { is "SELECT count(*) FROM lockstep.outbox JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$1'" 0; }
rejected() { is "SELECT count(*) FROM lockstep.rejected WHERE queue = '$1'" "$2"; }
run_probed() { # QUEUE PROBE
    LOCKSTEP_PROBE=$2 LOCKSTEP_PROBE_DIR=$tmp/$1 "${LOCKSTEP_BIN}-probed" executor run -d "$db" \
        -b "$LOCKSTEP_TEST_BROKERS" --queue "$1" --readers 1 2>"$tmp/$1.probed.log" &
}

# check QUEUE COUNT: exactly once, in the order in which they were rejected, with dense numbers, and all is noted
check() {
    expect "$1: dead letters" "$(letters "$1")" "$(wanted "$2")"
    expect "$1: noted" "$(sql "SELECT count(*), count(dead_lettered_at) FROM lockstep.rejected WHERE queue = '$1'")" \
        "$2|$2"
}

# Killed at each step of the first batch; another executor finishes, and the next ones go the same way.
killed() {
    local q=$1 at=$2 pid status
    failed=0
    mkdir "$tmp/$q"
    bad "$q" 1 3
    run_probed "$q" "$at=kill"
    pid=$!
    if wait "$pid"; then echo "$at: not killed"; failed=1; else status=$?; fi
    expect "$at: killed" "${status:-0}" 137
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 1 2>"$tmp/$q.log" &
    pid=$!
    eventually 30 empty "$q" || failed=1
    bad "$q" 4 5
    eventually 20 rejected "$q" 5 || failed=1
    eventually 20 empty "$q" || failed=1
    kill -TERM "$pid"
    wait "$pid" || failed=1
    check "$q" 5
    [ $failed = 0 ] || cat "$tmp/$q.probed.log" "$tmp/$q.log"
    return $failed
}

# Frozen just before it commits, for longer than the others bear it. It wakes, and can do nothing.
frozen() {
    local q=$1 pid
    failed=0
    mkdir "$tmp/$q"
    bad "$q" 1 3
    run_probed "$q" relay.sent=stop
    pid=$!
    eventually 20 test -e "$tmp/$q/relay.sent.hit" || failed=1
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 1 2>"$tmp/$q.log" &
    eventually 40 empty "$q" || failed=1
    kill -CONT "$pid"
    bad "$q" 4 5
    eventually 20 rejected "$q" 5 || failed=1
    eventually 20 empty "$q" || failed=1
    kill -TERM "$pid" %%
    wait "$pid" || true
    check "$q" 5
    [ $failed = 0 ] || cat "$tmp/$q.log" "$tmp/$q.probed.log"
    return $failed
}

queue() { lockstep queue create "$1" -q --create-topic; }
declare -A pids
for at in locked opened settled numbered flushed sent committed noted unlocked; do
    q=$(scratch_name)
    queue "$q"
    killed "$q" "relay.$at" &
    pids[relay.$at]=$!
done
q=$(scratch_name)
queue "$q"
frozen "$q" &
pids[frozen]=$!

case_begin 'two executors that reject at the same time forget no dead letter'
q=$(scratch_name)
queue "$q"
bad "$q" 1 300
executors 2 "$q" 1
executors_wait || failed=1
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 1 2>"$tmp/$q.log" &
pid=$!
eventually 20 empty "$q" || failed=1
check "$q" 300

case_begin 'a database that was set back sends each dead letter with a new number'
kill -TERM "$pid"
wait "$pid" || failed=1
sql "WITH q AS (SELECT queue_id FROM lockstep.queue WHERE name = '$q')
     UPDATE lockstep.relay SET last_seq = 100, sent_seq = 100, next_offset = 101 FROM q
     WHERE relay.queue_id = q.queue_id"
bad "$q" 301 302
executors 1 "$q" 1
executors_wait || failed=1
check "$q" 302
grep -q 'event=relay_ahead' "$tmp/$q.0.log" || { echo 'not told that the database was set back'; failed=1; }

case_begin 'a topic that cannot be made is reported once and stops nothing'
q=$(scratch_name)
topic=$(printf '%s%0*d' "$q." $((244 - ${#q})) 0) # with ".rejected" it is longer than Kafka allows
lockstep queue create "$q" --topic "$topic" -q --create-topic
bad "$topic" 1 3
executors 1 "$q" 1
executors_wait || failed=1
expect 'without a topic: told once' "$(grep -c 'event=relay_waits' "$tmp/$q.0.log")" 1
expect 'without a topic: the rows wait' \
    "$(sql "SELECT count(*) FROM lockstep.outbox JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$q'")" 3
expect 'without a topic: shown' "$(lockstep queue show "$q" -o json |
    jq -r '.queue | [.rejected, .dead_letters, .outbox, (.outbox_trouble | test("name"))] | @csv')" '3,true,3,true'
expect 'without a topic: why' "$(sql "SELECT trouble ~ 'a topic.s name has'
    FROM lockstep.relay JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$q'")" t

case_begin 'a record that is too large with its headers goes without its value'
q=$(scratch_name)
queue "$q"
head -c 1047900 /dev/zero | tr '\0' x >"$tmp/huge"
kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0 -X message.max.bytes=1048500 -H own=1 "$tmp/huge"
executors 1 "$q" 1
executors_wait || failed=1
expect 'too large' "$(kcat -C -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q.rejected" -p 0 -o beginning -e -f '%S %h' |
    sed -E 's/(own=1),.*(lockstep-value-left-out=[0-9]+)$/\1 \2/')" '-1 own=1 lockstep-value-left-out=1047900'

case_begin 'a tombstone that is too large with its headers goes without its key, and holds up no other dead letter'
q=$(scratch_name)
queue "$q"
{ cat "$tmp/huge"; echo '|'; } |
    kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0 -X message.max.bytes=4000000 -H own=1 -K '|' -Z
bad "$q" 1 1
executors 1 "$q" 1
executors_wait || failed=1
expect 'a large key' "$(kcat -C -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q.rejected" -p 0 -o beginning -e -f '%K %S %h\n' |
    sed -E 's/(own=1,)?lockstep-reason=([a-z_]+),.*lockstep-outbox-id=[0-9a-f-]{36}/\1\2/')" \
    "-1 -1 empty,lockstep-headers-left-out=1,lockstep-key-left-out=1047900
-1 5 bad_json"

case_begin 'a batch is bounded by the bytes of its keys and headers, too'
q=$(scratch_name)
queue "$q"
sql <<SQL
INSERT INTO lockstep.outbox (queue_id, kind, key, value, header_names, header_values)
SELECT queue_id, 'rejected', CASE WHEN n % 2 = 0 THEN decode(repeat('00', 900000), 'hex') END, '',
       CASE WHEN n % 2 = 1 THEN ARRAY['large'] END,
       CASE WHEN n % 2 = 1 THEN ARRAY[decode(repeat('00', 900000), 'hex')] END
FROM lockstep.queue, generate_series(1, 12) AS n WHERE name = '$q'
SQL
executors 1 "$q" 1
executors_wait || failed=1
expect 'batches' "$(sed -n 's/.*event=relayed .*records=\([0-9]*\).*/\1/p' "$tmp/$q.0.log" | paste -sd ' ')" '5 5 2'
case_begin 'an executor that is killed at any step leaves its work to another one'
for at in "${!pids[@]}"; do
    wait "${pids[$at]}" || { echo "$at: see above"; failed=1; }
done
cases_end
[ $failed = 0 ] || grep -hv -e message_rejected "$tmp"/*.log
exit $failed
