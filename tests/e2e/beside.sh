#!/bin/bash
# While the server has not answered a claim, readers that are done go on with what the executor has in hand.
# ctest: timeout=120
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/shell.bash"
. "$here/ledger.bash"
tmp=$(mktemp -d)
trap 'jobs_end; scratch_drop; rm -rf "$tmp"' EXIT
scratch_database
ledger_create
fail() { # with what the executor said
    printf '%s\n' "$@"
    cat "$tmp/$q".*.log
    exit 1
}
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 1 >/dev/null
for n in {0..599}; do echo "{\"order\": 1, \"sql\": \"SELECT work('$q', 1, $n, 0.003)\"}"; done >"$tmp/work.jsonl"
run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
executors 1 "$q" 1
completed="SELECT count(*) FROM lockstep.task WHERE status = 'Completed'"
some() { [ "$(sql "$completed")" -ge "$1" ]; }
eventually 20 some 50 || fail 'no task is completed'

echo '- a claim waits for the row of its queue'
sql "BEGIN; SELECT FROM lockstep.queue WHERE name = '$q' FOR UPDATE; SELECT pg_sleep(2); COMMIT" >/dev/null &
eventually 5 is "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lockstep/control' AND wait_event_type = 'Lock'
                 AND datname = current_database()" 1
before=$(sql "$completed")
eventually 1 some $((before + 10)) || fail "$before tasks were completed when the claim began to wait, then $(sql "$completed")"
expect 'it still waits' "$(sql "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lockstep/control' AND wait_event_type = 'Lock'
                                AND datname = current_database()")" 1

echo '- then all goes on'
executors_wait || fail 'the executor failed'
expect 'ended' "$(sql "SELECT status FROM lockstep.run WHERE run_id = '$run'")" Completed
expect 'each once, within the bound' "$(ledger_check "$q" 1)" ''
exit $failed
