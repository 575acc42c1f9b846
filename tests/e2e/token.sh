#!/bin/bash
# The second defence. Who takes over ends the sessions of the one who stands still; here they are spared (a server on which that
# fails, a session that has not been noted), so that only the token stands between a woken executor and its effect. It is
# refused, whatever the task had come to, and the effects are there once.
# ctest: nosan timeout=120
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/shell.bash"
. "$here/ledger.bash"
. "$here/probes.bash"
tmp=$(mktemp -d)
trap 'jobs_end; scratch_drop; rm -rf "$tmp"' EXIT
scratch_database 2>/dev/null
points_create
for name in sessions_left executor_fence; do
    sql "$(sql "SELECT replace(pg_get_functiondef(p.oid), 'WHERE es.executor_no', 'WHERE es.kind <> ''reader'' AND es.executor_no') FROM pg_proc p WHERE p.oid = 'lockstep.$name'::regproc")"
done
[ "$(sql "SELECT count(*) FROM pg_proc WHERE pronamespace = 'lockstep'::regnamespace AND prosrc LIKE '%es.kind <> ''reader''%'")" = 2 ]
stopped() { [ "$(sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null)" = T ]; }
woken="reader.send@3 reader.flush@3 block.begun block.ran"

queues=() pids=() options=()
# shellcheck disable=SC2086
points_runs $woken
i=0
for point in $woken; do
    point_start "$point" stop "${queues[i]}"
    pids+=("$pid") options+=(--queue "${queues[i]}")
    i=$((i + 1))
done
i=0
for point in $woken; do
    points_hit "$point" "${queues[i]}"
    eventually 5 stopped "${pids[i]}"
    i=$((i + 1))
done
point_executor heir "$LOCKSTEP_BIN" "${options[@]}" --readers 4
heir=$pid
eventually 30 points_done
sql "CREATE TABLE before (LIKE ledger); INSERT INTO before SELECT * FROM ledger"
kill -CONT "${pids[@]}"
again() { [ "$(grep -c 'event=executor_started' "$tmp/$1.log")" -ge 2 ]; }
for q in "${queues[@]}"; do eventually 15 again "$q"; done
kill -TERM "${pids[@]}" "$heir"
for pid in "${pids[@]}" "$heir"; do wait "$pid" || { echo "an executor ended with $?"; failed=1; }; done
expect 'effects of those who woke' "$(sql 'TABLE ledger EXCEPT ALL TABLE before')" ''
# shellcheck disable=SC2086
points_check $woken
exit $failed
