#!/bin/bash
# An executor is killed (kill -9) at every point of a task's life: its run is finished, in turn by an executor elsewhere and by
# itself started again on the same host; strict order, every effect once, the bound kept, nothing left over.
# Several points at a time, each with a queue of its own. LOCKSTEP_TEST_POINTS names other ones.
# ctest: nosan timeout=240 long
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/shell.bash"
. "$here/ledger.bash"
. "$here/probes.bash"
tmp=$(mktemp -d)
trap 'jobs_end; scratch_drop; rm -rf "$tmp"' EXIT
scratch_database 2>/dev/null
points_create

# go POINT...: all of them at once
go() {
    local q i pid heir elsewhere=() pids=() queues=() again=()
    points_runs "$@"
    for i in "${!queues[@]}"; do
        point_start "${@:i+1:1}" kill "${queues[i]}"
        pids+=("$pid")
    done
    for i in "${!queues[@]}"; do
        points_hit "${@:i+1:1}" "${queues[i]}"
        wait "${pids[i]}" && { echo "${*:i+1:1}: it was not killed"; failed=1; }
        [ $((i % 2)) = 0 ] || { point_executor "${queues[i]}" "$LOCKSTEP_BIN" --queue "${queues[i]}"; again+=("$pid"); continue; }
        elsewhere+=(--queue "${queues[i]}")
    done
    point_executor heir "$LOCKSTEP_BIN" "${elsewhere[@]}" --readers 10
    again+=("$pid")
    eventually 30 points_done || points_told "$@"
    kill -TERM "${again[@]}"
    for pid in "${again[@]}"; do
        wait "$pid" || { echo "an executor ended with $?"; failed=1; tail -qn 5 "$tmp"/*.log; }
    done
    points_check "$@"
}

points_go 2>/dev/null
exit $failed
