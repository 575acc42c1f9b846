#!/usr/bin/env bats
# Queues, and the forms of results, with both servers.
# ctest: timeout=120 long

bats_require_minimum_version 1.5.0

setup() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    scratch_database
    queue=$(scratch_name)
}

teardown() {
    scratch_drop
}

@test "queue create makes a topic that is fit, and refuses a second queue of the name" {
    run lockstep queue create "$queue"
    [ "$status" -eq 2 ]
    [[ $output == *--create-topic* ]]
    lockstep queue create "$queue" --create-topic --max-readers 3 --on-failure continue --runs concurrent --lookahead 2
    run lockstep queue show "$queue" -o json
    [ "$status" -eq 0 ]
    [ "$(jq -r '.queue | [.max_readers, .on_failure, .runs, .lookahead, .next_offset, .log_end, .lag, .paused] | @csv' \
        <<<"$output")" = '3,"continue","concurrent",2,0,0,0,false' ]
    jq -e '.queue | all(.partitions, .in_use, .active_runs, .outbox, .enqueued, .external_lease_s; type == "number")
        and all(.paused, .dead_letters, .events; type == "boolean")
        and all(.created_at, .updated_at; contains("T"))' <<<"$output"
    [ -n "$(sql "SELECT cluster_id FROM lockstep.queue WHERE cluster_id <> ''")" ]
    run lockstep queue create "$queue"
    [ "$status" -eq 1 ]
}

@test "a closed stdin, stdout or stderr is never a socket: output goes to no server, and a failed write is reported" {
    lockstep queue create "$queue" --create-topic -q
    run bash -c '"$LOCKSTEP_BIN" queue list -d "$0" >&-' "$db"
    [ "$status" -eq 70 ]
    [[ $output == *"cannot write the result"* ]]
    run timeout 30 bash -c '"$LOCKSTEP_BIN" publish --queue "$1" -d "$0" -b "$LOCKSTEP_TEST_BROKERS" - <&-' "$db" \
        "$queue"
    [ "$status" -ne 0 ]
    [ "$status" -ne 124 ]
    run bash -c '"$LOCKSTEP_BIN" queue list -d "$0" 2>&-' "$db"
    [ "$status" -eq 0 ]
}

@test "publish tells the id of its run on stderr when stdout does not take it" {
    lockstep queue create "$queue" --create-topic -q
    run bash -c 'echo "{\"order\":1,\"sql\":\"SELECT 1\"}" |
        "$LOCKSTEP_BIN" publish --queue "$1" -d "$0" -b "$LOCKSTEP_TEST_BROKERS" -q - >/dev/full' "$db" "$queue"
    [ "$status" -eq 70 ]
    [[ $output == *"the run is $(sql 'SELECT run_id FROM lockstep.run')"* ]]
}

@test "a topic with two partitions is refused with what to do, unless one is named" {
    "$LOCKSTEP_BIN" dev broker --topic one --topic two:2 >"$BATS_TEST_TMPDIR/broker" 2>/dev/null 3>&- &
    broker=$!
    eventually 10 test -s "$BATS_TEST_TMPDIR/broker"
    brokers=$(head -n 1 "$BATS_TEST_TMPDIR/broker")
    run "$LOCKSTEP_BIN" queue create two -d "$db" -b "$brokers"
    refusal=$status said=$output
    run "$LOCKSTEP_BIN" queue create two --partition 1 -d "$db" -b "$brokers"
    named=$status
    run "$LOCKSTEP_BIN" queue create three --topic two --partition 2 -d "$db" -b "$brokers"
    outside=$status
    run "$LOCKSTEP_BIN" queue create one -d "$db" -b "$brokers"
    fit=$status
    kill "$broker"
    wait "$broker"
    [ "$refusal" -eq 2 ]
    [[ $said == *"the topic has 2 partitions, a queue needs exactly one"*hint:*--create-topic*--partition* ]]
    [ "$named" -eq 0 ]
    [ "$outside" -eq 2 ]
    [ "$fit" -eq 0 ]
    [ "$(sql "SELECT string_agg(name || partition, ' ' ORDER BY name) FROM lockstep.queue")" = "one0 two1" ]
}

# Whether COMMAND notifies the executors of the first queue; psql tells a notification after the next statement.
notifies() {
    printf 'LISTEN lockstep_1;\n\\! "$LOCKSTEP_BIN" %s -q -d "$LISTENED"\nSELECT 1;\n' "$*" |
        LISTENED=$db "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$db" | grep -q 'lockstep_1" with payload "control"'
}

@test "queue set changes only what is given, tells the executors and writes it down" {
    lockstep queue create "$queue" --create-topic
    lockstep queue set "$queue" --max-readers 9
    [ "$(sql "SELECT max_readers, on_failure, runs FROM lockstep.queue")" = "9|stop|serial" ]
    [ "$(sql "SELECT detail FROM lockstep.event_log WHERE event = 'queue_changed'")" = "max_readers 9" ]
    events=$(sql "SELECT count(*) FROM lockstep.event_log WHERE event = 'queue_changed'")
    lockstep queue set "$queue" --max-readers 9 # as it is already
    [ "$(sql "SELECT count(*) FROM lockstep.event_log WHERE event = 'queue_changed'")" = "$events" ]
    notifies queue set "$queue" --max-readers 8
    run lockstep queue set "$queue"
    [ "$status" -eq 2 ]
    run lockstep queue set "$queue" --max-readers 1001
    [ "$status" -ne 0 ]
    [ "$(sql "SELECT max_readers FROM lockstep.queue")" = 8 ]
    lockstep queue set "$queue" --external-lease 90s
    [ "$(sql "SELECT external_lease FROM lockstep.queue")" = 00:01:30 ]
    run lockstep queue show "$queue" -o json
    [ "$(jq -r .queue.external_lease_s <<<"$output")" = 90 ]
    run lockstep queue set "$queue" --external-lease 1ms
    [ "$status" -ne 0 ]
    [[ $output == *external-lease* ]]
}

@test "queue pause and resume keep who and why" {
    lockstep queue create "$queue" --create-topic
    lockstep queue pause "$queue" --reason 'a reason'
    [ "$(sql "SELECT paused, paused_by = session_user FROM lockstep.queue")" = "t|t" ]
    [ "$(sql "SELECT detail FROM lockstep.event_log WHERE event = 'queue_paused'")" = "a reason" ]
    [ "$(lockstep queue show "$queue" -o json | jq -r .queue.paused_reason)" = "a reason" ]
    run lockstep queue pause "$queue" --reason 'another reason'
    [ "$status" -eq 0 ]
    output=$(tr -s ' \n' ' ' <<<"$output")
    [[ $output == *"$queue: it is paused already, by $(sql 'SELECT session_user') since 20"* ]] ||
        { echo "$output"; return 1; }
    [[ $output == *": a reason; nothing has changed"* ]] || { echo "$output"; return 1; }
    [ "$(sql "SELECT detail FROM lockstep.event_log WHERE event = 'queue_paused'")" = "a reason" ]
    notifies queue resume "$queue"
    notifies queue pause "$queue"
    lockstep queue resume "$queue"
    [ "$(sql "SELECT paused, paused_by IS NULL FROM lockstep.queue")" = "f|t" ]
}

@test "queue resume and queue show say that the topic is gone" {
    local broker=$LOCKSTEP_TEST_BROKERS
    local command="kafka-topics.sh --bootstrap-server $broker --create --topic $queue.gone --partitions 1 "
    lockstep queue create "$queue" --create-topic
    sql "UPDATE lockstep.queue SET topic = name || '.gone', halted_reason = 'topic_deleted', halted_at = now()"
    for command_line in "resume $queue --accept-topic --from-offset earliest" "show $queue"; do
        # shellcheck disable=SC2086
        run lockstep queue $command_line
        output=$(tr -s ' \n' ' ' <<<"$output")
        [[ $output == *"the topic does not exist"*"$command"* ]] || { echo "$output"; return 1; }
        [[ $output != *Local:* ]]
    done
}

@test "queue delete needs --yes and takes the queue's records with it" {
    lockstep queue create "$queue" --create-topic
    run lockstep queue delete "$queue"
    [ "$status" -eq 2 ]
    lockstep queue delete "$queue" --yes
    [ "$(sql "SELECT count(*) FROM lockstep.queue")" = 0 ]
}

@test "queue delete says what would be lost before it is told to" {
    lockstep queue create "$queue" --create-topic
    printf '%s\n' '{"order": 1, "sql": "SELECT 1"}' '{"order": 2, "sql": "SELECT 2"}' |
        lockstep publish --queue "$queue" -q -
    run lockstep queue delete "$queue"
    [ "$status" -eq 2 ]
    said='this deletes the queue with its records: 1 run, 0 tasks; never to be run: 1 run that has not ended, offsets 0 to'
    [[ $output == *"$said "*" of topic $queue, which are not claimed"*--yes* ]] || { echo "$output"; return 1; }
    LOCKSTEP_EXECUTOR_READERS=1 lockstep executor run --queue "$queue" --until-idle 2>/dev/null
    run lockstep queue delete "$queue"
    [[ $output == *": 1 run, 2 tasks"* && $output != *'never to be run'* ]] || { echo "$output"; return 1; }
    lockstep queue delete "$queue" --yes
    [ "$(sql "SELECT count(*) FROM lockstep.queue")" = 0 ]
    [ "$(sql "SELECT string_agg(event, ' ') FROM lockstep.event_log WHERE queue_id IS NOT NULL")" = queue_deleted ]
}

@test "an unknown queue is a usage error with the nearest name" {
    lockstep queue create "$queue" --create-topic
    for command in "queue show" "queue pause" "queue set --max-readers 1" "run list --queue" "log --queue" \
        "executor run --queue"; do
        # shellcheck disable=SC2086
        run lockstep $command "${queue}x"
        [ "$status" -eq 2 ] || { echo "$command: $status"; return 1; }
        [[ $output == *"$queue\""* ]]
    done
}

@test "a Kafka that is not there is exit code 4, and does not keep queue show from answering" {
    run timeout 60 "$LOCKSTEP_BIN" queue create "$queue" -d "$db" -b 127.0.0.1:1 -q
    [ "$status" -eq 4 ]
    lockstep queue create "$queue" --create-topic
    run "$LOCKSTEP_BIN" queue show "$queue" -d "$db" -b 127.0.0.1:1 -q
    [ "$status" -eq 0 ]
}

@test "json, jsonl and csv are valid whatever a text holds" {
    lockstep queue create "$queue" --create-topic
    lockstep queue pause "$queue" --reason $'quote " comma, back\\slash\nline\ttab \x01 ü'
    lockstep log -o json | jq -e --arg want $'quote " comma, back\\slash\nline\ttab \x01 ü' \
        'map(select(.event == "queue_paused"))[0].detail == $want'
    lockstep log -o jsonl | jq -e -s 'length == 2 and (.[0].id | type) == "number" and .[0].run_id == null'
    [ "$(lockstep log -o csv | tr -d '\r' | head -n 1)" = id,at,event,queue,run_id,order,task,executor_id,actor,detail ]
    lockstep log -o csv | grep -qF '"quote "" comma, back\slash'
    lockstep log -o json | jq -e 'all(.at | test("^[0-9-]{10}T[0-9:.]+[+-][0-9:]{5}$"))'
}

@test "every list is valid JSON, also when it is empty" {
    for list in "queue list" "run list" "task list" "rejected list" "lock list" "executor list" "log" \
        "log --executions" \
        "migrate list" "config list" "config show"; do
        # shellcheck disable=SC2086
        run bash \
            -c '"$LOCKSTEP_BIN" '"$list"' -o json -d "$1" -b "$LOCKSTEP_TEST_BROKERS" | jq -e "type == \"array\""' - \
            "$db"
        [ "$status" -eq 0 ] || { echo "$list: $output"; return 1; }
    done
}

@test "times are shown in the zone that is asked for" {
    lockstep queue create "$queue" --create-topic
    lockstep log -o json --time-zone Asia/Kolkata | jq -e 'all(.at | endswith("+05:30"))'
}

@test "queue create writes the topic's birthmark" {
    q=$(scratch_name)
    lockstep queue create "$q" -q --create-topic
    [ "$(sql "SELECT mark IS NOT NULL, marked_at IS NOT NULL FROM lockstep.queue WHERE name = '$q'")" = 't|t' ]
}

@test "publish --dry-run and publish speak the formats of programs" {
    lockstep queue create "$queue" --create-topic -q
    printf '{"order": %d, "sql": "SELECT 1"}\n' 20 10 20 >"$BATS_TEST_TMPDIR/work.jsonl"
    dry() { lockstep publish --queue "$queue" "$BATS_TEST_TMPDIR/work.jsonl" --dry-run -o "$1" 2>/dev/null; }
    [ "$(dry json | jq -c '[.[] | [.order, .previous_order, .tasks]]')" = '[[10,0,1],[20,10,2]]' ]
    [ "$(dry jsonl | jq -sc 'map(.tasks)')" = '[1,2]' ]
    [ "$(dry csv | tr -d '\r')" = $'order,previous_order,tasks\n10,0,1\n20,10,2' ]
    run lockstep publish --queue "$queue" "$BATS_TEST_TMPDIR/work.jsonl" -o json -q
    [ "$status" -eq 0 ]
    [ "$(jq -c '[.tasks, .phases, (.run_id | length)]' <<<"$output")" = '[3,2,36]' ]
}

@test "publish --stream that meets a wrong line names its run, what is published of it, and its end" {
    lockstep queue create "$queue" --create-topic -q
    {
        printf '{"order": %d, "sql": "SELECT 1"}\n' {1..5000}
        printf '{"order": "x", "sql": "SELECT 1"}\n'
    } >"$BATS_TEST_TMPDIR/work.jsonl"
    run lockstep publish --queue "$queue" --stream "$BATS_TEST_TMPDIR/work.jsonl" -q
    [ "$status" -eq 2 ]
    [[ $output == *'work.jsonl:5001: $.order must be an integer'* ]] || { echo "$output"; return 1; }
    id=$(sql 'SELECT run_id FROM lockstep.run')
    # A stream is committed in parts: on a slow machine the last one before the wrong line has fewer than 5000.
    published=$(kcat -C -q -e -b "$LOCKSTEP_TEST_BROKERS" -t "$queue" -p 0 -o beginning \
        -X isolation.level=read_committed | grep -c '"sql"')
    [ "$published" -gt 0 ]
    ended="detail: $published tasks of run $id were published before; the run is ended as aborted."
    [[ $output == *"$ended"* ]] || { echo "$output"; return 1; }
}

@test "publish says why it ended, also behind a fault of its source; a fault that is the reason is said once" {
    lockstep queue create "$queue" --create-topic -q
    run lockstep publish --queue "$queue" -q - <<<'{"order": "x", "sql": "SELECT 1"}'
    [ "$status" -eq 2 ]
    [ "$(grep -c 'must be an integer' <<<"$output")" -eq 1 ]
    mkfifo "$BATS_TEST_TMPDIR/pipe"
    "$LOCKSTEP_BIN" publish --queue "$queue" -q -d "$db" -b "$LOCKSTEP_TEST_BROKERS" - \
        <"$BATS_TEST_TMPDIR/pipe" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
    publisher=$!
    exec {pipe}>"$BATS_TEST_TMPDIR/pipe"
    echo oops >&"$pipe"
    eventually 20 grep -q '^stdin:1: ' "$BATS_TEST_TMPDIR/out"
    kill -TERM "$publisher"
    code=0
    wait "$publisher" || code=$?
    exec {pipe}>&-
    [ "$code" -eq 8 ]
    grep -q 'the publishing was interrupted' "$BATS_TEST_TMPDIR/out" || { cat "$BATS_TEST_TMPDIR/out"; return 1; }
}

@test "the first message has the policy of its run always, and its name unless the task leaves no room for it" {
    lockstep queue create "$queue" --create-topic -q
    name=$(printf 'n%.0s' {1..1000})
    begin='{"order": 1, "sql": "SELECT 1 -- '
    for bytes in 998758 998759 999744; do
        rest=$(printf '%*s"}' $((bytes - ${#begin} - 2)) '')
        run=$(lockstep publish --queue "$queue" --name "$name" --on-failure continue -q - \
            2>"$BATS_TEST_TMPDIR/err" <<<"$begin$rest")
        kcat -C -b "$LOCKSTEP_TEST_BROKERS" -t "$queue" -o beginning -e -q -X isolation.level=read_committed |
            jq -rn --arg run "$run" 'inputs | select(.run == $run and .seq == 0) |
                [(.run_name // "" | length), .run_on_failure] | @csv' >"$BATS_TEST_TMPDIR/first"
        left_out=$(grep -c 'leaves no room for the name' "$BATS_TEST_TMPDIR/err") || true
        read -r first <"$BATS_TEST_TMPDIR/first"
        if [ "$bytes" -eq 998758 ]; then
            [ "$first $left_out" = '1000,"continue" 0' ] || { echo "$bytes: $first $left_out"; return 1; }
        else
            [ "$first $left_out" = '0,"continue" 1' ] || { echo "$bytes: $first $left_out"; return 1; }
        fi
    done
}

@test "publish --wait says why nothing happens, and an interrupt is of the waiting" {
    lockstep queue create "$queue" --create-topic -q
    printf '{"order": 10, "sql": "SELECT 1"}\n' >"$BATS_TEST_TMPDIR/work.jsonl"
    "$LOCKSTEP_BIN" publish --queue "$queue" "$BATS_TEST_TMPDIR/work.jsonl" --wait -d "$db" \
        -b "$LOCKSTEP_TEST_BROKERS" \
        >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
    publisher=$!
    eventually 20 grep -q "no executor works for queue $queue" "$BATS_TEST_TMPDIR/out"
    [ "$(sql 'SELECT status FROM lockstep.run_status')" = Published ]
    kill -TERM "$publisher"
    code=0
    wait "$publisher" || code=$?
    [ "$code" -eq 8 ]
    grep -q 'the waiting was interrupted; the run is Published' "$BATS_TEST_TMPDIR/out"
    grep -q 'lockstep run watch ' "$BATS_TEST_TMPDIR/out"
    ! grep -qE 'reading: 0|sending: 0|end: $' "$BATS_TEST_TMPDIR/out"
}

@test "queue create over a topic with records says how many of them executors will run" {
    lockstep queue create "$queue" --create-topic -q
    echo x | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$queue" -p 0
    echo x | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$queue" -p 0
    run -0 lockstep queue create "$queue.2" --topic "$queue"
    [[ $output == *'up to 2 records from there on: executors run them; --from-end begins after them'* ]]
    run -0 lockstep queue create "$queue.3" --topic "$queue" --from-end
    [[ $output == *'from offset 2'* && $output != *'executors run'* ]]
}
