#!/bin/bash
# Other producers: an open transaction that hides the end of the topic is named; a producer that was fenced says so and
# does not fence in return; the executors find records of other programs that have holes, are cut short or are doubled.
# ctest: timeout=120 notsan long
. "$(dirname "$0")/../support/e2e.bash"
two=$db # a second database, whose queues are on the same topics
e2e_leave() { local db=$two && scratch_drop; }
scratch_database
one=$db
export LOCKSTEP_PROBE_DIR=$tmp
tasks() {
    awk -v n="$1" \
        'BEGIN { for (i = 0; i < n; i++) printf "{\"order\": %d, \"sql\": \"SELECT %d\"}\n", 1 + int(i / 50), i }'
}
tasks 200 >"$tmp/a.jsonl"
tasks 5 >"$tmp/five.jsonl"
probed() { LOCKSTEP_PROBE=$1 "$LOCKSTEP_BIN-probed" publish -d "$2" -b "$LOCKSTEP_TEST_BROKERS" -q "${@:3}"; }
ends() {
    local wanted=$1 text=$2 status=0
    shift 2
    "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
    if [ "$status" != "$wanted" ] || { [ -n "$text" ] && ! grep -qE -- "$text" "$tmp/err"; }; then
        echo "$*: ended with $status, wanted $wanted and: $text"
        sed 's/^/    /' "$tmp/err"
        failed=1
    fi
}
topic() { kcat -C -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -o beginning -e -q -X isolation.level=read_committed -f '%s\n'; }

queue() {
    q=$(scratch_name)
    lockstep queue create "$q" -q --create-topic
    db=$two lockstep queue create "other$q" -q --topic "$q"
}
# A producer of another queue that leaves its transaction open on the topic of $q; its pid in $foreign.
hanging() {
    rm -f "$tmp"/publish.committing.hit
    LOCKSTEP_PROBE=publish.committing=hold "$LOCKSTEP_BIN-probed" publish -d "$two" -b "$LOCKSTEP_TEST_BROKERS" \
        --queue "other$q" "$tmp/five.jsonl" >/dev/null 2>&1 &
    foreign=$! # the binary itself, no function of ours
    eventually 20 test -e "$tmp/publish.committing.hit"
}

queue
hanging
# Looked at in the end.
lockstep publish --queue "$q" -q "$tmp/five.jsonl" --wait --timeout 14s >/dev/null 2>"$tmp/waits.err" &
waits=$!
eventually 20 is "SELECT count(*) FROM lockstep.run r JOIN lockstep.queue q USING (queue_id)
    WHERE q.name = '$q' AND published_at IS NOT NULL" 1

# Begun before our run or in it: its record is behind the end that can be read, or that end is where the
# looking begins.
for begun in before in; do
    case_begin "a run is neither resumed nor closed behind an open transaction, which is named (begun $begun it)"
    queue
    run=$(cat /proc/sys/kernel/random/uuid)
    rm -f "$tmp"/publish.started.*
    [ $begun = in ] || hanging
    LOCKSTEP_PROBE=publish.started=hold,publish.record=sleep:110@2,publish.committed=kill "$LOCKSTEP_BIN-probed" \
        publish -d "$one" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" -q --run "$run" \
        --stream "$tmp/a.jsonl" >/dev/null 2>&1 &
    pid=$!
    eventually 20 test -e "$tmp/publish.started.hit"
    [ $begun = before ] || hanging
    touch "$tmp/publish.started.go"
    status=0
    wait $pid 2>/dev/null || status=$?
    expect 'killed' $status 137
    ends 7 "open transaction of another producer begins at offset 0 of topic $q \(partition 0\), since 20.* UTC, [0-9]+ s ago" \
        lockstep publish --queue "$q" -q --resume "$run" --no-wait-lock
    grep -q 'hint: .*kafka-transactions.sh .* abort --topic .* --start-offset 0' "$tmp/err" ||
        { cat "$tmp/err"; failed=1; }
    for option in close refuse; do
        ends 7 'open transaction of another producer begins at offset 0' \
            lockstep publish --queue "$q" -q --unfinished $option --no-wait-lock "$tmp/five.jsonl"
    done
    expect 'left as it was' "$(sql "SELECT run_id, published_at IS NULL AND publish_error IS NULL AND ended_at IS NULL
        FROM lockstep.run JOIN lockstep.queue AS q USING (queue_id) WHERE q.name = '$q'")" "$run|t"
    # It ends while we wait: then the run continues, behind the earlier records.
    : >"$tmp/err" # the records that ends() wrote there say the same
    lockstep publish --queue "$q" -q --resume "$run" >"$tmp/out" 2>>"$tmp/err" &
    pid=$!
    eventually 20 grep -q 'begins at offset 0' "$tmp/err"
    kill -9 $foreign
    wait $foreign 2>/dev/null || true
    db=$two lockstep publish --queue "other$q" -q "$tmp/five.jsonl" >/dev/null 2>&1 # its successor settles it
    status=0
    wait $pid || status=$?
    expect 'resumed when the way is free' "$status $(grep -c 'is resumed with seq 64' "$tmp/err")" '0 1'
    expect 'the run' "$(topic |
        jq -rn --arg run "$run" '[inputs | select(.run == $run)] | [length, ([.[].seq] == [range(201)])] | @csv')" \
        '201,true'
done

q=$(scratch_name)
lockstep queue create "$q" -q --create-topic
db=$two lockstep queue create "$q" -q --topic "$q"
for way in '' --stream; do
    case_begin "publish $way whose transactional id is taken by a queue of another database reports it, and does not fence back"
    rm -f "$tmp"/publish.*.hit "$tmp"/publish.*.go
    run=$(cat /proc/sys/kernel/random/uuid)
    held=$([ -z "$way" ] && echo 1 || echo 2)
    # shellcheck disable=SC2086 # $way may be nothing
    probed publish.record=sleep:110@2,publish.flushing="hold@$held" "$one" --queue "$q" \
        --run "$run" $way "$tmp/a.jsonl" >/dev/null 2>"$tmp/fenced.err" &
    pid=$!
    eventually 20 test -e "$tmp/publish.flushing.hit"
    db=$two ends 0 '' lockstep publish --queue "$q" -q "$tmp/five.jsonl"
    touch "$tmp/publish.flushing.go"
    status=0
    wait $pid || status=$?
    expect 'its exit' "$status" 7
    grep -q "has taken over the transactional id lockstep.$q" "$tmp/fenced.err" || { cat "$tmp/fenced.err"; failed=1; }
    if [ -z "$way" ]; then
        expect 'nothing of it' "$(sql "SELECT status FROM lockstep.run WHERE run_id = '$run'") $(topic |
            jq -c --arg run "$run" 'select(.run == $run)')" 'Cancelled '
    else
        grep -q -- "To continue it: lockstep publish --queue $q --resume $run" "$tmp/fenced.err" ||
            { cat "$tmp/fenced.err"; failed=1; }
        ends 0 'is resumed with seq 64' lockstep publish --queue "$q" -q --resume "$run"
        expect 'the run' "$(topic |
            jq -rn --arg run "$run" '[inputs | select(.run == $run)] | [length, ([.[].seq] == [range(201)])] | @csv')" \
            '201,true'
    fi
done

for way in '' --stream; do
    case_begin "publish $way whose transaction Kafka has aborted for its age says so, and names no other producer"
    rm -f "$tmp"/publish.*.hit "$tmp"/publish.*.go
    run=$(cat /proc/sys/kernel/random/uuid)
    held=$([ -z "$way" ] && echo 1 || echo 2)
    # shellcheck disable=SC2086 # $way may be nothing
    probed publish.record=sleep:110@2,publish.committing="hold@$held" "$one" --queue "$q" --run "$run" \
        -X transaction.timeout.ms=2000 $way "$tmp/a.jsonl" >/dev/null 2>"$tmp/fenced.err" &
    pid=$!
    eventually 20 test -e "$tmp/publish.committing.hit"
    kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0 <<<"behind $run"
    aborted() { topic | grep -q "^behind $run$"; } # no transaction before it is open
    eventually 40 aborted
    touch "$tmp/publish.committing.go"
    status=0
    wait $pid || status=$?
    expect 'its exit' "$status" 7
    grep -qE 'Kafka has aborted the transaction \([A-Z_]+\): it was open for [0-9]+ ms, .* is 2000' "$tmp/fenced.err" ||
        wrong "$(cat "$tmp/fenced.err")"
    ! grep -q 'another producer' "$tmp/fenced.err" || wrong "$(cat "$tmp/fenced.err")"
    if [ -z "$way" ]; then
        grep -q -- '-X transaction.timeout.ms=N' "$tmp/fenced.err" || wrong "$(cat "$tmp/fenced.err")"
        expect 'nothing of it' "$(sql "SELECT status FROM lockstep.run WHERE run_id = '$run'")" Cancelled
    else
        grep -q -- "To continue it: lockstep publish --queue $q --resume $run" "$tmp/fenced.err" ||
            wrong "$(cat "$tmp/fenced.err")"
        ends 0 'is resumed with seq 64' lockstep publish --queue "$q" -q --resume "$run"
    fi
done

case_begin 'executors find a hole, a run that is cut short and an end that counts wrong, and run duplicates once'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic
u() { printf '6f6b2a52-7f4f-4c55-9f2e-94c0b8d2b%03d' "$1"; }
t() {
    printf \
        '{"run": "%s", "seq": %d, "order": %d, "previous_order": %d, "sql": "INSERT INTO effect VALUES (%d, %d)"}\n' \
        "$(u "$1")" "$2" "$3" "$4" "$1" "$2"
}
e() { printf '{"run": "%s", "seq": %d, "type": "end", "tasks": %d, "phases": %d}\n' "$(u "$1")" "$2" "$3" "$4"; }
sql 'CREATE TABLE effect (run int, n int)'
{
    t 1 0 1 0; t 1 2 1 0; t 1 3 2 1; e 1 4 4 2             # seq 1 is missing
    t 2 0 1 0; t 2 1 1 0; e 2 3 3 1                        # the last task before the end
    t 3 0 1 0; t 3 1 1 0; e 3 2 3 1                        # dense, but the end has counted three
    # A producer without idempotence.
    t 4 0 1 0; t 4 1 1 0; t 4 0 1 0; t 4 1 1 0; t 4 2 2 1; t 4 1 1 0; e 4 3 3 2; e 4 3 3 2
    t 5 0 1 0; e 5 1 1 1                                   # and the stream continues
} | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0
executors 1 "$q" 4
executors_wait || { cat "$tmp/$q".*.log; failed=1; }
outcome() { sql "SELECT status || ': ' || COALESCE(reason, '') FROM lockstep.run_status WHERE run_id = '$(u "$1")'"; }
expect 'a hole' "$(outcome 1)" 'Failed: messages are lost: after seq 0 came seq 2 (offset 1)'
expect 'cut short' "$(outcome 2)" 'Failed: messages are lost: after seq 1 came seq 3 (offset 6)'
expect 'wrong counts' "$(outcome 3)" 'Failed: the end counts 3 tasks in 1 phases, there were 2 in 1'
expect 'duplicates' "$(outcome 4)" 'Completed: '
expect 'the next' "$(outcome 5)" 'Completed: '
expect 'effects' "$(sql "SELECT string_agg(run || '.' || n || '=' || c, ' ' ORDER BY run, n)
    FROM (SELECT run, n, count(*) AS c FROM effect WHERE run > 3 GROUP BY 1, 2) AS x")" '4.0=1 4.1=1 4.2=1 5.0=1'
expect 'nothing behind a hole' "$(sql "SELECT count(*) FROM effect WHERE run = 1 AND n > 0")" 0
expect 'recorded' "$(sql "SELECT string_agg(reason || ' ' || c, ', ')
    FROM (SELECT reason, count(*) AS c FROM lockstep.rejected WHERE queue = '$q' GROUP BY 1) AS x")" 'duplicate 4'

case_begin 'publish --wait reports the open transaction that hides its run'
status=0
wait $waits || status=$?
expect 'its exit' "$status" 6
grep -q 'open transaction of another producer begins at offset 0' "$tmp/waits.err" ||
    { cat "$tmp/waits.err"; failed=1; }
cases_end
exit $failed
