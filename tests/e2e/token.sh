#!/bin/bash
# The second defence. An executor that adopts work ends the sessions of the frozen one. Here they are spared (a server
# on which that fails, a session that was not noted), so that only the token prevents the effect of the executor that
# wakes. It is refused, however far the task was, and each effect is there once.
# ctest: nosan timeout=120
. "$(dirname "$0")/../support/e2e.bash"
. "$here/probes.bash"
points_create
for name in sessions_left executor_fence; do
    sql "$(sql "SELECT replace(pg_get_functiondef(p.oid), 'WHERE es.executor_no',
                               'WHERE es.kind <> ''reader'' AND es.executor_no')
        FROM pg_proc p WHERE p.oid = 'lockstep.$name'::regproc")"
done
case_begin 'executors whose sessions are spared when they are taken over have no effect when they wake'
[ "$(sql "SELECT count(*) FROM pg_proc
    WHERE pronamespace = 'lockstep'::regnamespace AND prosrc LIKE '%es.kind <> ''reader''%'")" = 2 ]
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
    eventually 10 stopped "${pids[i]}"
    i=$((i + 1))
done
point_executor heir "$LOCKSTEP_BIN" "${options[@]}" --readers 4
heir=$pid
# shellcheck disable=SC2086
eventually 30 points_done || { points_told $woken; tail -n 20 "$tmp/heir.log"; exit 1; }
sql "CREATE TABLE before (LIKE ledger); INSERT INTO before SELECT * FROM ledger"
kill -CONT "${pids[@]}"
for q in "${queues[@]}"; do eventually 15 points_again "$q"; done
told_to_end "${pids[@]}" "$heir"
expect 'effects of those who woke' "$(sql 'TABLE ledger EXCEPT ALL TABLE before')" ''
# shellcheck disable=SC2086
points_check $woken
# shellcheck disable=SC2086
points_report 'an executor that wakes at POINT is refused by its token: its run is finished, every effect once' $woken
cases_end
exit $failed
