#!/bin/bash
# More readers than one claim has tasks for: short tasks go on being claimed.
# ctest: timeout=120
. "$(dirname "$0")/../support/e2e.bash"
ledger_create
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 40 >/dev/null
{ # phases of one task: it is alone, and short, so many are wanted ahead when the large phase comes
    for p in {1..80}; do echo "{\"order\": $p, \"sql\": \"INSERT INTO ledger VALUES ('$q', $p, $((p - 1)), clock_timestamp(), clock_timestamp())\"}"; done
    for n in {80..2079}; do echo "{\"order\": 81, \"sql\": \"INSERT INTO ledger VALUES ('$q', 81, $n, clock_timestamp(), clock_timestamp())\"}"; done
} >"$tmp/work.jsonl"
case_begin 'forty readers, more than one claim has tasks for, run a large phase of short tasks'
run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
executors 1 "$q" 40
eventually 30 run_is "$run" Completed || {
    sql "SELECT 'claimed ' || tasks || ' in ' || phases || ' phases' FROM lockstep.run WHERE run_id = '$run'"
    lockstep queue explain "$q"
    exit 1
}
executors_wait || { cat "$tmp/$q".*.log; failed=1; }
expect 'each once, in order' "$(ledger_check "$q" 40)" ''
cases_end
exit $failed
