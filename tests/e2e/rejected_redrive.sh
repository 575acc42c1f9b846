#!/bin/bash
# rejected redrive: rejected messages are published again, corrected or as they are, as a run of their own, each once,
# also when the command is killed on the way.
# ctest: nosan timeout=120
. "$(dirname "$0")/../support/e2e.bash"
sql 'CREATE TABLE done (what text)'
put() { kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0 "$@"; }
drain() {
    executors 1 "$q" 4
    executors_wait || { cat "$tmp/$q".*.log; failed=1; }
}
ids() {
    sql "SELECT string_agg(rejected_id::text, ' ' ORDER BY rejected_id) FROM lockstep.rejected
        WHERE queue = '$q' AND $1"
}
id() { sql "SELECT rejected_id FROM lockstep.rejected WHERE queue = '$q' AND \"offset\" = $1"; }
done_is() { expect "$1" "$(sql "SELECT string_agg(what, ' ' ORDER BY what) FROM done")" "$2"; }
# refused STATUS PATTERN ARGS...: redrive ends with STATUS and says PATTERN, and nothing is published
refused() {
    local status=0 before after want=$1 pattern=$2
    shift 2
    before=$(sql 'SELECT count(*) FROM lockstep.run')
    lockstep rejected redrive "$@" >"$tmp/out" 2>&1 || status=$?
    after=$(sql 'SELECT count(*) FROM lockstep.run')
    expect "redrive $*: status" "$status" "$want"
    grep -q "$pattern" "$tmp/out" || { echo "redrive $*: $(cat "$tmp/out")"; failed=1; }
    expect "redrive $*: runs" "$after" "$before"
}
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic
put <<'END'
{"order": 5, "previous_order": 3, "sql": "INSERT INTO done VALUES ('hole 5')", "description": "9007199254740993 { \" } [ , is kept"}
{"order": 5, "previous_order": 3, "sql": "INSERT INTO done VALUES ('hole 5b')"}
not json
{"order": 9, "previous_order": 7, "sql": "INSERT INTO done VALUES ($1)", "params": ["hole 9"], "name": "nine"}
{"type": "end"}
END
printf '{"order": 2,\n "previous_order": 1,\n "sql": "INSERT INTO done VALUES ($$two\\nlines$$)"}' >"$tmp/lines"
put "$tmp/lines"
put -Z -K '~' <<<'gone~'
drain
expect 'rejected' "$(ids true | wc -w)" 7

case_begin 'a wrong message is refused before anything is published'
refused 2 'which messages'
refused 2 'a reason is needed' "$(id 0)"
refused 2 'not both' "$(id 0)" --all --reason x
refused 2 'no rejected message of this number' 999999 --reason x
refused 2 'ID must be 1 or more, not' 0x1 --reason x
refused 2 'there is no queue' --all --queue nowhere --reason x
refused 2 "rejected message $(id 2) (offset 2, bad_json)" --all --queue "$q" --reason x
grep -q "rejected message $(id 6) (offset 6, empty): it has no value" "$tmp/out" || { cat "$tmp/out"; failed=1; }
grep -q '2 of 7 messages cannot become tasks' "$tmp/out" || { cat "$tmp/out"; failed=1; }
echo '{"order": 1}' >"$tmp/bad.jsonl"
refused 2 'does not say which rejected message' --file "$tmp/bad.jsonl" --reason x
echo "{\"rejected_id\": $(id 2), \"order\": 1, \"sequel\": 1}" >"$tmp/bad.jsonl"
refused 2 'sequel' --file "$tmp/bad.jsonl" --reason x
# The C1 form of CSI would reach the terminal.
printf '{"rejected_id": %s, "order": 1, "type": "\xc2\x9b31m"}\n' "$(id 2)" >"$tmp/bad.jsonl"
refused 2 'not "\\u009b31m"' --file "$tmp/bad.jsonl" --reason x
! grep -qa $'\xc2\x9b' "$tmp/out" || wrong "$(cat -v "$tmp/out")"
printf '{"order": 1, "type": "\xc2\x9b31m"}\n' >"$tmp/bad.jsonl"
lockstep publish --queue "$q" --dry-run "$tmp/bad.jsonl" >"$tmp/out" 2>&1 && wrong 'not refused'
grep -q 'not "\\u009b31m"' "$tmp/out" || wrong "$(cat -v "$tmp/out")"
! grep -qa $'\xc2\x9b' "$tmp/out" || wrong "$(cat -v "$tmp/out")"
refused 2 'Did you mean bad_json' --reason-is badjson --queue "$q" --reason x
refused 2 'nothing to redrive but ends' "$(id 4)" --reason x
refused 2 'it cannot be read: Is a directory' --reason-is hole --queue "$q" --file "$tmp" --reason x

case_begin 'a second correction of a message is an error of its line, and the first one in the file is named'
correct() { echo "{\"rejected_id\": $1, \"order\": 1, \"sql\": \"SELECT 1\"}"; }
{
    correct "$(id 6)"
    correct "$(id 2)"
    echo
    correct "$(id 2)"
    correct "$(id 6)"
    echo 'not json'
} >"$tmp/twice.jsonl"
refused 2 'twice.jsonl:4: \$.rejected_id: the message is corrected by an earlier line, too' \
    --file "$tmp/twice.jsonl" --reason x
sed -i 4,5d "$tmp/twice.jsonl"
refused 2 'twice.jsonl:4: ' --file "$tmp/twice.jsonl" --reason x
! grep -q 'earlier line' "$tmp/out" || wrong "$(cat "$tmp/out")"
{ correct "$(id 6)"; correct 999999; correct "$(id 2)"; } >"$tmp/twice.jsonl"
refused 2 '999999: there is no rejected message of this number among those that are chosen' \
    --file "$tmp/twice.jsonl" --reason x

case_begin 'the time for many corrections grows with their number, not with its square'
many=$(scratch_name)
lockstep queue create "$many" -q --create-topic
sql "SET LOCAL session_replication_role = replica; -- no dead letters
    INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw)
    SELECT q.queue_id, n, 'bad_json', 'x', 'x' FROM lockstep.queue q, generate_series(1, 60000) AS n
    WHERE q.name = '$many'"
sql_alone "SELECT format('{\"rejected_id\": %s, \"order\": 1, \"sql\": \"SELECT 1\"}', rejected_id)
    FROM lockstep.rejected WHERE queue = '$many' ORDER BY rejected_id DESC" >"$tmp/many.jsonl"
status=0
( # seconds of a processor, not of the clock
    ulimit -t 10
    lockstep rejected redrive --file "$tmp/many.jsonl" --dry-run >"$tmp/out" 2>&1
) || status=$?
expect 'many: status' "$status" 0
expect 'many' "$(awk '/^ +[0-9]/ {print $1, $3}' "$tmp/out")" '1 60000'
sql "SET LOCAL session_replication_role = replica; -- nothing refers to them
    DELETE FROM lockstep.rejected_message
    WHERE queue_id = (SELECT queue_id FROM lockstep.queue WHERE name = '$many')"

case_begin 'a dry run shows the phases and sends nothing'
lockstep rejected redrive --reason-is HOLE --queue "$q" --dry-run >"$tmp/out" 2>&1 || failed=1
expect 'dry run' "$(awk '/^ +[0-9]/ {print $1, $2, $3}' "$tmp/out" | tr '\n' ';')" '2 0 1;5 2 2;9 5 1;'
grep -q '1 end of runs is left out' "$tmp/out" || { cat "$tmp/out"; failed=1; }
expect 'dry run: nothing noted' "$(sql 'SELECT count(*) FROM lockstep.rejected_message
    WHERE redrive_run IS NOT NULL OR redrive_noted IS NOT NULL')" 0

case_begin 'messages are published as they are, with their orders and a new run'
run=$(lockstep rejected redrive --reason-is hole --queue "$q" --reason 'the phase before came late' -q)
expect 'noted' "$(sql "SELECT count(*), count(redriven_at), min(redriven_by) = session_user FROM lockstep.rejected
    WHERE redrive_run = '$run'")" '4|4|t'
drain
done_is 'holes' 'hole 5 hole 5b hole 9 two
lines'
expect 'run' "$(sql "SELECT name, status, tasks FROM lockstep.run_status WHERE run_id = '$run'")" 'redrive|Completed|4'
expect 'tasks' "$(sql "SELECT string_agg(seq || ':' || \"order\", ' ' ORDER BY seq)
    FROM lockstep.task JOIN lockstep.run USING (run_no) WHERE run_id = '$run'")" '0:2 1:5 2:5 3:9'
expect 'text is kept' \
    "$(sql "SELECT payload::json ->> 'description' FROM lockstep.task WHERE payload LIKE '%hole 5''%'")" \
    '9007199254740993 { " } [ , is kept'
sql "SELECT detail FROM lockstep.event_log WHERE event = 'messages_redriven'" |
    grep -q "4 rejected message(s) again as run $run: the phase before came late" ||
    { echo 'not in the log'; failed=1; }
refused 2 "was redriven at .* as run $run" "$(id 0)" --reason x
refused 2 'nothing to redrive' --reason-is hole --queue "$q" --reason x

case_begin 'corrected messages are published in one phase, and waited for'
cat >"$tmp/corrected.jsonl" <<END
{"rejected_id": $(id 2), "order": 1, "sql": "INSERT INTO done VALUES ('json now')"}
{"order": 7, "sql": "INSERT INTO done VALUES ('value now')", "rejected_id": $(id 6)}
END
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 2 2>"$tmp/executor.log" &
lockstep rejected redrive --file "$tmp/corrected.jsonl" --order 30 --reason 'a typing error' --wait --timeout 30s \
    -o json >"$tmp/out" 2>/dev/null || failed=1
expect 'waited' "$(jq -r '[.tasks, .phases, .status] | @csv' "$tmp/out")" '2,1,"Completed"'
expect 'corrected' "$(sql "SELECT string_agg(what, ', ' ORDER BY what) FROM done WHERE what LIKE '% now'")" \
    'json now, value now'

case_begin 'a message is redriven a second time only if that is asked for'
lockstep rejected redrive "$(id 3)" --again --reason 'once more' --wait -q >/dev/null || failed=1
expect 'again' "$(sql "SELECT count(*) FROM done WHERE what = 'hole 9'")" 2

case_begin 'a message that was redriven stays redriven if a second redrive of it is killed'
# missed WHAT: a message that is rejected, because its phase came late; $one is its number
missed() {
    echo "{\"order\": 5, \"previous_order\": 3, \"sql\": \"INSERT INTO done VALUES ('$1')\"}" | put
    eventually 20 is "SELECT count(*) FROM lockstep.rejected WHERE convert_from(raw, 'UTF8') LIKE '%(''$1'')%'" 1
    one=$(sql "SELECT rejected_id FROM lockstep.rejected WHERE convert_from(raw, 'UTF8') LIKE '%(''$1'')%'")
}
probed() {
    LOCKSTEP_PROBE=$1 "${LOCKSTEP_BIN}-probed" rejected redrive "${@:2}" -d "$db" -b "$LOCKSTEP_TEST_BROKERS" \
        --reason killed -q
}
before=$(sql "SELECT redrive_run, redriven_at, redriven_by FROM lockstep.rejected WHERE rejected_id = $(id 3)")
probed publish.started=kill "$(id 3)" --again >/dev/null 2>&1 && wrong 'not killed'
missed another
lockstep rejected redrive "$one" --reason 'settles the one before' --wait -q >/dev/null || failed=1
expect 'its first redrive is known' \
    "$(sql "SELECT redrive_run, redriven_at, redriven_by FROM lockstep.rejected WHERE rejected_id = $(id 3)")" "$before"
refused 2 'was redriven' "$(id 3)" --reason x
expect 'not once more' "$(sql "SELECT count(*) FROM done WHERE what = 'hole 9'")" 2

case_begin 'a repeat is not run again unless it is named'
r=6f6b2a52-7f4f-4c55-9f2e-94c0b8d2a003
for _ in 1 2; do
    echo "{\"run\": \"$r\", \"seq\": 0, \"order\": 1, \"previous_order\": 0, \"sql\": \"INSERT INTO done VALUES ('repeated')\"}"
done | put
echo "{\"run\": \"$r\", \"seq\": 1, \"type\": \"end\", \"tasks\": 1, \"phases\": 1}" | put
eventually 20 is "SELECT count(*) FROM lockstep.rejected WHERE queue = '$q' AND reason = 'duplicate'" 1
refused 2 'nothing to redrive' --run "$r" --queue "$q" --reason x
lockstep rejected redrive --reason-is duplicate --queue "$q" --reason 'wanted twice' --wait -q >/dev/null || failed=1
expect 'duplicate' "$(sql "SELECT count(*) FROM done WHERE what = 'repeated'")" 2

case_begin 'an end that is malformed is left out, too'
echo "{\"run\": \"$r\", \"seq\": 9, \"type\": \"end\"}" | put
eventually 20 is "SELECT count(*) FROM lockstep.rejected WHERE queue = '$q' AND reason = 'bad_field'" 1
refused 2 '1 end of runs is left out' --reason-is bad_field --queue "$q" --reason x
grep -q 'nothing to redrive but ends' "$tmp/out" || wrong "$(cat "$tmp/out")"

# Killed on the way: the next one finds out what became of it, and each message is run once.
n=0
for at in redrive.noted publish.started publish.committing publish.committed redrive.published redrive.settled; do
    n=$((n + 1))
    missed "kill $n"
    probed "$at=kill" "$one" >/dev/null 2>&1 && { echo "$at: not killed"; failed=1; }
    status=0
    lockstep rejected redrive "$one" --reason 'the one before died' -q >"$tmp/out" 2>&1 || status=$?
    # Not there yet; there already.
    case $at in redrive.noted | publish.started | publish.committing) want=0 ;; *) want=2 ;; esac
    expect "$at: the next one" "$status" $want
    eventually 20 is "SELECT count(*) FROM done WHERE what = 'kill $n'" 1 || { cat "$tmp/out"; failed=1; }
    expect "$at: noted" "$(sql "SELECT redriven_at IS NOT NULL FROM lockstep.rejected WHERE rejected_id = $one")" t
done

case_begin 'one that was killed is closed as run explain says, and redriven again'
missed closed
probed publish.started=kill "$one" >/dev/null 2>&1 && wrong 'not killed'
noted=$(sql "SELECT redrive_noted FROM lockstep.rejected WHERE rejected_id = $one")
lockstep run explain "$noted" -o jsonl | jq -r 'select(.about | contains("'"$noted"'")) | .helps' >"$tmp/out"
expect 'what helps' "$(cat "$tmp/out")" "To close it: lockstep run end $noted. Then redrive the messages again"
lockstep run end "$noted" >"$tmp/out" 2>&1 || wrong "$(cat "$tmp/out")"
lockstep rejected redrive "$one" --reason 'closed before' --wait -q >"$tmp/out" 2>&1 || wrong "$(cat "$tmp/out")"
expect 'it ran once' "$(sql "SELECT count(*) FROM done WHERE what = 'closed'")" 1

case_begin 'one with a filter that was killed behind its last message is not followed by a second one'
missed filtered
reason=$(sql "SELECT reason FROM lockstep.rejected WHERE rejected_id = $one")
probed redrive.published=kill --reason-is "$reason" --queue "$q" >/dev/null 2>&1 && wrong 'not killed'
refused 2 'hint: Run the same command again: it leaves out the messages that were redriven' \
    --reason-is "$reason" --queue "$q" --reason x
! grep -q -e '--again' "$tmp/out" || wrong "$(cat "$tmp/out")"
refused 2 'nothing to redrive' --reason-is "$reason" --queue "$q" --reason x
eventually 20 is "SELECT count(*) FROM done WHERE what = 'filtered'" 1 || wrong 'it did not run'

case_begin 'one that lost its lock says what continues it, which does'
missed lock
LOCKSTEP_PROBE_DIR=$tmp probed publish.flushing=hold "$one" 2>"$tmp/lost" >/dev/null &
lost=$!
eventually 20 test -e "$tmp/publish.flushing.hit" || wrong 'it does not publish'
sql "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
     WHERE application_name = 'lockstep/producer' AND datname = current_database()" >/dev/null
touch "$tmp/publish.flushing.go"
status=0
wait "$lost" || status=$?
expect 'its exit' "$status" 3
grep -q 'hint: Run the same command again' "$tmp/lost" || wrong "$(cat "$tmp/lost")"
! grep -q 'publish --queue' "$tmp/lost" || wrong "$(cat "$tmp/lost")"
status=0
lockstep rejected redrive "$one" --reason killed -q >"$tmp/out" 2>&1 || status=$?
expect 'the same again' "$status" 0
eventually 20 is "SELECT count(*) FROM done WHERE what = 'lock'" 1 || wrong "$(cat "$tmp/out")"

case_begin 'a redrive that takes longer than a transaction may is not published in part, and its hint makes it possible'
# Two messages of this size are handed to librdkafka at once (producer/outbox.c): there are two such parts.
printf -v padding '%150000s' x
for n in 1 2 3 4; do
    echo "{\"order\": 5, \"previous_order\": 3, \"sql\": \"INSERT INTO done VALUES ('long $n') -- $padding\"}"
done | put
long="convert_from(raw, 'UTF8') LIKE '%(''long _'')%'"
eventually 20 is "SELECT count(*) FROM lockstep.rejected WHERE $long" 4
read -ra longs < <(ids "$long")
status=0
probed publish.begun=sleep:1100@1,publish.begun=kill@2 "${longs[@]}" -X transaction.timeout.ms=2000 \
    >"$tmp/out" 2>&1 || status=$?
expect 'its exit' "$status" 6
grep -q '2 of 4 tasks were sent in 1000 ms, .*: nothing is published' "$tmp/out" || wrong "$(cat "$tmp/out")"
expect 'none is redriven' \
    "$(sql "SELECT count(redrive_noted), count(redriven_at) FROM lockstep.rejected WHERE $long")" '0|0'
expect 'nor its run there' "$(sql "SELECT status, first_offset IS NULL, published_at IS NULL FROM lockstep.run
    WHERE name = 'redrive' ORDER BY run_no DESC LIMIT 1")" 'Cancelled|t|t'
longer=$(sed -n 's/.* -X \(transaction.timeout.ms=[0-9]*\), .*/\1/p' "$tmp/out")
expect 'it says how long' "$longer" transaction.timeout.ms=20000
lockstep rejected redrive "${longs[@]}" -X "$longer" --reason 'with more time' --wait -q >"$tmp/out" 2>&1 ||
    wrong "$(cat "$tmp/out")"
expect 'each is run' "$(sql "SELECT count(*) FROM done WHERE what LIKE 'long _'")" 4

case_begin 'the relay ends when there is nothing to relay'
eventually 10 is \
    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lockstep/relay' AND datname = current_database()" \
    0 || failed=1
expect 'no relay is left' "$(sql "SELECT (SELECT count(*) FROM lockstep.lock_list() WHERE kind = 'relay'),
        (SELECT count(*) FROM lockstep.executor_session WHERE kind = 'relay')")" '0|0'
kill -TERM %%
wait || true
done_is 'all in all' \
    'another closed filtered hole 5 hole 5b hole 9 hole 9 json now '\
'kill 1 kill 2 kill 3 kill 4 kill 5 kill 6 lock long 1 long 2 long 3 long 4 repeated repeated two
lines value now'
cases_end
[ $failed = 0 ] || tail -n 30 "$tmp/executor.log"
exit $failed
