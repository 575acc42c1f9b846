#!/usr/bin/env bats
# ctest: nosan
# message check: what somebody who writes a producer learns before anything is on a topic.

setup() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    cd "$BATS_TEST_TMPDIR"
}

teardown() {
    scratch_drop
}

run_id=7b1f0f5e-9b0a-4a53-8f43-2a8f3bb0c9de

check() { "$LOCKSTEP_BIN" message check "$@"; }

@test "right messages are right, from a file and from standard input, without a server" {
    cat >right <<END
{"run": "$run_id", "seq": 0, "order": 100, "previous_order": 0, "sql": "SELECT 1"}
{"run": "$run_id", "seq": 1, "order": 200, "previous_order": 100, "sql": "SELECT 1"}

{"run": "$run_id", "seq": 2, "type": "end", "tasks": 2, "phases": 2}
{"order": 100, "previous_order": 0, "sql": "SELECT 1"}
{"type": "end"}
{"order": 100, "previous_order": 0, "sql": "SELECT 1"}
END
    PGHOST=127.0.0.1 PGPORT=1 run check right
    [ "$status" -eq 0 ]
    [[ $output == *"6 messages are right"* ]]
    check - <right
    [ "$(check right -o json 2>/dev/null)" = "[]" ]
    echo '{"order": 100, "sql": "SELECT 1"}' >staged
    check --form staged staged
}

@test "each wrong one is told with its line, its field and what to write; exit code 1" {
    cat >wrong <<'END'
{"order": "100", "previous_order": 0, "sql": "SELECT 1"}
{"order": 100, "sql": "SELECT 1"}
{"order": 100, "previous_order": 0, "slq": "SELECT 1"}
{"order": 100, "previous_order": 0, "sql": "SELECT 1",}
END
    run check wrong
    [ "$status" -eq 1 ]
    [[ $output == *'wrong:1: $.order must be an integer'*'Write "order": 100'* ]]
    [[ $output == *'wrong:2: $.previous_order'*'Write "previous_order": 0'* ]]
    [[ $output == *"wrong:3: "*slq*sql* ]]
    [[ $output == *'wrong:4: '* ]]
    [[ $output == *'4 of 4 messages are wrong'* ]]
    [ "$(check wrong -o json 2>/dev/null | jq -c '[.[].line], [.[].reason]')" = '[1,2,3,4]
["bad_field","bad_field","bad_field","bad_json"]' ]
}

@test "a file that is not there, and nothing at all, are told apart from wrong messages" {
    run check nowhere
    [ "$status" -eq 2 ]
    run check
    [ "$status" -eq 2 ]
    run check --form csv wrong
    [ "$status" -eq 2 ]
    run check /dev/null
    [ "$status" -eq 1 ]
}

@test "the tags are followed through the file: seq, previous_order, the end" {
    cat >tags <<END
{"run": "$run_id", "seq": 1, "order": 100, "previous_order": 0, "sql": "SELECT 1"}
{"run": "$run_id", "seq": 1, "order": 100, "previous_order": 0, "sql": "SELECT 1"}
{"run": "$run_id", "seq": 2, "order": 300, "previous_order": 200, "sql": "SELECT 1"}
{"run": "$run_id", "seq": 5, "order": 300, "previous_order": 100, "sql": "SELECT 1"}
{"run": "$run_id", "seq": 6, "type": "end", "tasks": 4, "phases": 2}
{"run": "aaaa0000-0000-4000-8000-000000000001", "seq": 0, "order": 1, "previous_order": 0, "sql": "SELECT 1"}
END
    check tags -o jsonl >told 2>/dev/null || true
    [ "$(jq -c '[.line, .grade, .field, .reason]' told)" = '[1,"wrong","$.seq","unknown_run"]
[2,"wrong","$.seq","duplicate"]
[3,"wrong","$.previous_order","hole"]
[4,"wrong","$.seq","loss"]
[5,"wrong","$.tasks","loss"]
[null,"warn",null,"no_end"]' ]
    [ "$(jq -r 'select(.line == 1 or .line == 3 or .line == 4) | .write' told)" = 'Write "seq": 0
Write "previous_order": 100
Write "seq": 3' ]
}

@test "records as kcat -J writes them, with their headers" {
    cat >kcat <<'END'
{"topic":"t","partition":0,"offset":0,"key":null,"headers":["a","b","traceparent","00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],"payload":"{\"order\": 100, \"previous_order\": 0, \"sql\": \"SELECT 1\"}"}
{"topic":"t","partition":0,"offset":1,"key":null,"headers":["traceparent","4bf9"],"payload":"{\"order\": 100, \"previous_order\": 0, \"sql\": \"SELECT 1\"}"}
END
    check --form kcat kcat -o jsonl >told
    [ "$(jq -c '[.line, .grade, .field]' told)" = '[2,"warn","traceparent"]' ]
    echo '{"topic":"t","partition":0,"offset":2,"key":null,"payload":null}' >>kcat
    echo '{"order": 100, "previous_order": 0, "sql": "SELECT 1"}' >>kcat
    check --form kcat kcat -o jsonl >told || true
    [ "$(jq -c 'select(.grade == "wrong") | [.line, .reason]' told)" = '[3,"empty"]
[4,"bad_json"]' ]
}

@test "a value that kcat writes with a NUL is wrong, a key with one is not" {
    record() { printf '{"topic": "t", "partition": 0, "offset": 0, "key": %s, "payload": "%s"}\n' "$1" "$2"; }
    task='{\"order\": 100, \"previous_order\": 0, \"sql\": \"SELECT 1'
    {
        record '"\u0000\u0001"' "$task"' -- \\\\u0000\"}'
        record null "$task"'\"}\u0000'
        record null "$task"'\"}\u0000, text'
        record null '\u0000'
        record null "$task"' -- \\u0000\"}'
    } >kcat
    check --form kcat kcat -o jsonl >told 2>/dev/null || true
    [ "$(jq -c '[.line, .grade, .reason]' told)" = '[2,"wrong","bad_json"]
[3,"wrong","bad_json"]
[4,"wrong","bad_json"]
[5,"wrong","bad_json"]' ] || { cat told; return 1; }
}

@test "it says of every case of the codec's test what the codec says" {
    python3 - "$BATS_TEST_DIRNAME/../unit/message_cases.jsonl" <<'END'
import json, sys
for form in "record", "staged":
    with open(form, "w") as out, open(form + ".expected", "w") as expected:
        line = 0
        for case in map(json.loads, open(sys.argv[1])):
            text = case["text"]
            if case["form"] == form and "\n" not in text and text.strip() and not text.startswith("\ufeff"):
                line += 1
                out.write(case["text"].rstrip("\r") + "\n")
                if case.get("reason"):
                    expected.write(f'{line} {case["reason"]}\n')
END
    for form in record staged; do
        [ "$(wc -l <$form.expected)" -gt 3 ]
        check --form $form $form -o jsonl >told 2>/dev/null || true
        jq -r 'select(.line != null) | "\(.line) \(.reason)"' told |
            grep -vE ' (hole|late|loss|contradiction|duplicate|unknown_run)$' | diff $form.expected -
    done
}

@test "an executor says the same of the same records" {
    scratch_database
    q=$(scratch_name)
    lockstep queue create "$q" --create-topic -q
    cat >records <<END
{"order": 100, "previous_order": 50, "sql": "SELECT 1"}
{"type": "end"}
{"order": 100, "previous_order": 0, "sql": "SELECT 1"}
{"order": 100, "previous_order": 0, "sql": "SELECT 1"}
{"order": 100, "previous_order": 50, "sql": "SELECT 1"}
{"order": 300, "previous_order": 200, "sql": "SELECT 1"}
{"order": 300, "previous_order": 100, "sql": "SELECT 1"}
{"order": 200, "previous_order": 100, "sql": "SELECT 1"}
{"order": 100, "previous_order": 0, "sql": "SELECT 1"}
no JSON
{"type": "end"}
{"run": "$run_id", "seq": 0, "order": 100, "previous_order": 0, "sql": "SELECT 1"}
{"run": "$run_id", "seq": 0, "order": 100, "previous_order": 0, "sql": "SELECT 1"}
{"run": "$run_id", "seq": 1, "order": 200, "previous_order": 100, "sql": 5}
{"run": "$run_id", "seq": 2, "order": 300, "previous_order": 200, "sql": "SELECT 1"}
{"run": "$run_id", "seq": 3, "order": 200, "previous_order": 100, "sql": "SELECT 1"}
nothing
{"run": "$run_id", "seq": 5, "order": 200, "previous_order": 100, "sql": "SELECT 1"}
{"run": "$run_id", "seq": 6, "type": "end", "tasks": 6, "phases": 2}
{"run": "$run_id", "seq": 7, "order": 300, "previous_order": 200, "sql": "SELECT 1"}
END
    kcat -P -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0 -l records
    lockstep executor run --queue "$q" --until-idle -q
    check records -o jsonl 2>/dev/null | jq -r 'select(.grade == "wrong") | "\(.line - 1) \(.reason)"' >told || true
    sql "SELECT r.\"offset\" || ' ' || r.reason FROM lockstep.rejected r WHERE r.queue = '$q' ORDER BY r.\"offset\"" |
        diff - told
    [ -s told ]
}

@test "the place in a message is said once, by every command that reads staged work" {
    scratch_database
    queue=$(scratch_name)
    lockstep queue create "$queue" -q --create-topic
    echo '{"order": "x", "sql": "SELECT 1"}' >"$BATS_TEST_TMPDIR/staged"
    run lockstep publish --queue "$queue" "$BATS_TEST_TMPDIR/staged"
    [[ $output == *'staged:1: $.order must be an integer'* ]] || { echo "$output"; return 1; }
    printf 'order;sql\n1;SELECT 1\n' >"$BATS_TEST_TMPDIR/staged.csv"
    run lockstep publish --queue "$queue" "$BATS_TEST_TMPDIR/staged.csv"
    [[ $output == *'the column "order;sql" is not known'*'by commas'* ]] || { echo "$output"; return 1; }
    sql "INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw)
        SELECT queue_id, 0, 'bad_field', 'x', '{\"order\": \"x\", \"sql\": \"SELECT 1\"}' FROM lockstep.queue"
    id=$(sql 'SELECT rejected_id FROM lockstep.rejected_message')
    run lockstep rejected redrive "$id" --reason x
    [[ $output == *'(offset 0, bad_field): $.order must be an integer'* ]] || { echo "$output"; return 1; }
    echo "{\"rejected_id\": $id, \"rejected_id\": 2}" >"$BATS_TEST_TMPDIR/corrected"
    run lockstep rejected redrive --file "$BATS_TEST_TMPDIR/corrected" --reason x
    [[ $output == *'corrected:1: $.rejected_id occurs twice'* ]] || { echo "$output"; return 1; }
}
