#!/bin/bash
# The cursor of a queue goes back while its executor lives, because older rows were restored. The executor reads the
# topic again from there.
# ctest: timeout=90
. "$(dirname "$0")/../support/e2e.bash"
ledger_create
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 2
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 2 2>"$tmp/log" &
publish() { # ORDER: a run of three tasks in one phase
    local n
    for n in 1 2 3; do
        echo "{\"order\": $1, \"sql\": \"SELECT work('$q', $1, $n, 0)\"}"
    done | lockstep publish --queue "$q" -q -
}
effects() { sql "SELECT string_agg(ord || '.' || seq, ' ' ORDER BY ended) FROM ledger"; }
ended() {
    eventually 30 is "SELECT count(*) FROM lockstep.run WHERE ended_at IS NOT NULL" "$1" ||
        { cat "$tmp/log"; exit 1; }
}

case_begin 'records behind a cursor that went back are claimed and run again, then what came later'
publish 1 >/dev/null
ended 1
sql <<'SQL'
BEGIN;
DELETE FROM lockstep.task;
DELETE FROM lockstep.phase;
DELETE FROM lockstep.event_log;
DELETE FROM lockstep.run;
DELETE FROM ledger;
UPDATE lockstep.queue
SET next_offset = 0, last_offset = NULL, last_timestamp = NULL, last_digest = NULL, last_run_no = NULL;
COMMIT;
SQL
publish 2 >/dev/null
ended 2
expect 'the log says so once' "$(grep -c cursor_went_back "$tmp/log")" 1
expect 'effects' "$(effects | tr ' ' '\n' | sort | xargs)" '1.1 1.2 1.3 2.1 2.2 2.3'
expect 'phases in order' \
    "$(sql "SELECT max(ended) FILTER (WHERE ord = 1) < min(started) FILTER (WHERE ord = 2) FROM ledger")" t
cases_end
exit $failed
