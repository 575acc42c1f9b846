#!/bin/bash
# A message that cannot become a task is kept with its bytes and the reason, and the stream continues. kcat writes the
# messages, as any producer may.
# ctest: timeout=120
. "$(dirname "$0")/../support/e2e.bash"
letters() {
    kcat -C -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q.rejected" -p 0 -o beginning -e -X isolation.level=read_committed \
        "$@"
}
put() { kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0 "$@"; }

case_begin 'bad messages of an implicit run are recorded, and the run continues'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4 >/dev/null
put <<'END'
{"order": 5, "previous_order": 3, "sql": "SELECT 'a hole'"}
{"order": 1, "previous_order": 0, "sql": "SELECT 1"}
{"order": 2, "previous_order": 1, "sql": "SELECT 2"}
not json at all
{"order": 1, "previous_order": 1, "sql": "SELECT 'not above'"}
{"order": 3, "previous_order": 1, "sql": "SELECT 'skipped one'"}
{"order": 2, "previous_order": 1, "sql": "SELECT 3"}
{"order": 2, "previous_order": 0, "type": "nonsense", "sql": "SELECT 1"}
{"order": 9, "previous_order": 2, "steps": [{"name": "list", "type": "command"}]}
{"order": 9223372036854775808, "previous_order": 2, "sql": "SELECT 1"}
{"order": 3, "previous_order": 2, "sql": "SELECT 4", "surprise": true}
{"order": 9223372036854775807, "previous_order": 2, "sql": "SELECT 5"}
{"type": "end"}
{"order": 1, "previous_order": 0, "sql": "SELECT 6"}
END
printf '{"order": 2, "previous_order": 1, "sql": "\xff"}' >"$tmp/bytes"
put "$tmp/bytes"
head -c 999000 /dev/zero | tr '\0' 'x' >"$tmp/big"
put "$tmp/big"
executors 1 "$q" 4
executors_wait || { cat "$tmp/$q".*.log; failed=1; }
expect 'rejected' "$(sql "SELECT string_agg(\"offset\" || '=' || reason, ' ' ORDER BY \"offset\")
    FROM lockstep.rejected WHERE queue = '$q'")" \
    '0=hole 3=bad_json 4=bad_field 5=hole 7=unknown_type 8=bad_field 9=out_of_range 10=bad_field 14=bad_json 15=bad_json'
expect 'raw bytes' "$(sql "SELECT encode(raw, 'hex') FROM lockstep.rejected WHERE queue = '$q' AND \"offset\" = 14")" \
    "$(od -An -v -tx1 "$tmp/bytes" | tr -d ' \n')"
expect 'dead letters' \
    "$(letters -f '%h\n' | sed -E 's/.*lockstep-reason=([a-z_]+),.*lockstep-offset=([0-9]+),.*/\2=\1/' | tr '\n' ' ')" \
    '0=hole 3=bad_json 4=bad_field 5=hole 7=unknown_type 8=bad_field 9=out_of_range 10=bad_field 14=bad_json 15=bad_json '
letter() { letters -o "$(letters -f '%o\n' | sed -n "$1p")" -c 1 -f '%s'; } # between them are the ends of transactions
letter 9 | cmp - "$tmp/bytes" || failed=1
letter 10 | cmp - "$tmp/big" || failed=1
expect 'tasks' "$(sql "SELECT string_agg(t.\"order\" || '=' || t.status, ' ' ORDER BY t.task_id)
    FROM lockstep.task t JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$q'")" \
    '1=Completed 2=Completed 2=Completed 9223372036854775807=Completed 1=Completed'
expect 'cursor' "$(sql "SELECT next_offset FROM lockstep.queue WHERE name = '$q'")" 16

case_begin 'of a run with an identity a repeat is recorded, and a gap stops the run'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic >/dev/null
r=6f6b2a52-7f4f-4c55-9f2e-94c0b8d2a001
put <<END
{"run": "$r", "seq": 0, "order": 1, "previous_order": 0, "sql": "SELECT 1"}
{"run": "$r", "seq": 1, "order": 1, "previous_order": 0, "sql": "SELECT 2"}
{"run": "$r", "seq": 1, "order": 1, "previous_order": 0, "sql": "SELECT 2"}
{"run": "$r", "seq": 4, "order": 2, "previous_order": 1, "sql": "SELECT 'too far'"}
{"run": "$r", "seq": 5, "type": "end", "tasks": 5, "phases": 2}
END
executors 1 "$q" 2
executors_wait || failed=1
expect 'duplicate' \
    "$(sql "SELECT string_agg(\"offset\" || '=' || reason, ' ') FROM lockstep.rejected WHERE queue = '$q'")" \
    '2=duplicate'
expect 'loss' "$(sql "SELECT status, reason LIKE 'messages are lost: after seq 1 came seq 4%' FROM lockstep.run_status
    WHERE run_id = '$r'")" 'Failed|t'
expect 'loss: tasks' "$(sql "SELECT string_agg(t.seq || '=' || t.status, ' ' ORDER BY t.seq)
    FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$r'")" \
    '0=Completed 1=Completed 4=Cancelled'

case_begin 'key and headers are kept with a rejected message'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic >/dev/null
r=6f6b2a52-7f4f-4c55-9f2e-94c0b8d2a002
printf 'k\xff\t1' >"$tmp/key"
lines() { printf '%s' "$@" | put -K '~' -D '|' "${headers[@]}"; }
headers=(-H a=1 -H "b=$(printf '\xfe')" -H a=2 -H none -H "$(printf 'n\xffame')=x")
lines "$(cat "$tmp/key")~not json|" "$(cat "$tmp/key")~{\"order\": 7, \"previous_order\": 3, \"sql\": \"SELECT 1\"}|"
headers=(-H only=one)
lines "first~{\"run\": \"$r\", \"seq\": 0, \"order\": 1, \"previous_order\": 0, \"sql\": \"SELECT 1\"}|" \
    "second~{\"run\": \"$r\", \"seq\": 0, \"order\": 1, \"previous_order\": 0, \"sql\": \"SELECT 1\"}|"
put <<END
{"run": "$r", "seq": 0, "order": 1, "previous_order": 0, "sql": "SELECT 1"}
{"run": "$r", "seq": 1, "type": "end", "tasks": 1, "phases": 1}
END
put -Z -K '~' <<<'gone~'
executors 1 "$q" 2
executors_wait || failed=1
expect 'key and headers' "$(sql "SELECT v.\"offset\", v.reason, encode(m.key, 'hex'), m.header_names, m.header_values
        FROM lockstep.rejected_message m
        JOIN lockstep.rejected v USING (rejected_id) WHERE v.queue = '$q' ORDER BY 1")" \
    '0|bad_json|6bff0931|{a,b,a,none,"n\\xffame"}|{"\\x31","\\xfe","\\x32",NULL,"\\x78"}
1|hole|6bff0931|{a,b,a,none,"n\\xffame"}|{"\\x31","\\xfe","\\x32",NULL,"\\x78"}
3|duplicate|7365636f6e64|{only}|{"\\x6f6e65"}
4|duplicate|||
6|empty|676f6e65||'
expect 'a record without a value has none' \
    "$(sql "SELECT raw IS NULL FROM lockstep.rejected WHERE queue = '$q' AND \"offset\" = 6")" t
letters -o 0 -c 1 -f '%k' | cmp - "$tmp/key" || failed=1
printf 'a=1,b=\xfe,a=2,none=NULL,n\\xffame=x,' >"$tmp/headers"
letters -o 1 -c 1 -f '%h' | head -c "$(stat -c %s "$tmp/headers")" | cmp - "$tmp/headers" || failed=1
expect 'keys, lengths and headers' "$(letters -f '%K %S %h\n' | LC_ALL=C sed \
    -E 's/^([-0-9]+ [-0-9]+) .*(lockstep-topic=.*,lockstep-offset=[0-9]+),lockstep-time=.*(lockstep-queue=[^,]*).*/\1 \2 \3/' |
    sed "s/$q/Q/g" | tail -n 4)" \
    '4 52 lockstep-topic=Q,lockstep-partition=0,lockstep-offset=1 lockstep-queue=Q
6 109 lockstep-topic=Q,lockstep-partition=0,lockstep-offset=3 lockstep-queue=Q
-1 109 lockstep-topic=Q,lockstep-partition=0,lockstep-offset=4 lockstep-queue=Q
4 -1 lockstep-topic=Q,lockstep-partition=0,lockstep-offset=6 lockstep-queue=Q'
expect 'the good one runs' "$(sql "SELECT status, tasks, failed FROM lockstep.run_status WHERE run_id = '$r'")" \
    'Completed|1|0'

case_begin 'a flood of rejected messages takes few transactions'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --dead-letters off >/dev/null
{
    seq 1000
    head -c 900000 /dev/zero | tr '\0' 'x'
    echo
    seq 1000
} | put
executors 1 "$q" 1
executors_wait || failed=1
expect 'a flood' "$(sql "SELECT count(*), count(DISTINCT kafka_offset), sum(length(raw))
    FROM lockstep.rejected_message m JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$q'")" '2001|2001|905786'
expect 'its transactions' \
    "$(sql "SELECT CASE WHEN count(DISTINCT m.xmin::text) < 200 THEN 'few' ELSE count(DISTINCT m.xmin::text)::text END
        FROM lockstep.rejected_message m JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$q'")" few
expect 'its lines' "$(cat "$tmp/$q".*.log | grep -c event=message_rejected)" 2001

case_begin 'without dead letters the rows are there all the same'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --dead-letters off >/dev/null
echo 'not json' | put
executors 1 "$q" 1
executors_wait || failed=1
expect 'off' "$(sql "SELECT (SELECT count(*) FROM lockstep.rejected WHERE queue = '$q'),
        (SELECT count(*) FROM lockstep.outbox)")" '1|0'
kcat -L -b "$LOCKSTEP_TEST_BROKERS" -J >"$tmp/topics"
grep -q "\"$q\"" "$tmp/topics" || wrong 'the topics are not listed'
! grep -q "\"$q.rejected\"" "$tmp/topics" || wrong 'a dead-letter topic was made'
lockstep queue set "$q" --dead-letters on -q
expect 'on' "$(sql "SELECT dead_letters FROM lockstep.queue WHERE name = '$q'")" t
cases_end
exit $failed
