#!/bin/bash
# An executor is killed (kill -9) at every point of a task's life: its run is finished, in turn by an executor elsewhere
# and by itself started again on the same host; strict order, every effect once, the bound kept, nothing left over.
# Several points at a time, each with a queue of its own. LOCKSTEP_TEST_POINTS names other ones.
# ctest: nosan timeout=240 long
. "$(dirname "$0")/../support/e2e.bash"
. "$here/probes.bash"
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
        ! wait "${pids[i]}" || point_wrong "${queues[i]}" "${*:i+1:1}: the executor was not killed"
        [ $((i % 2)) = 0 ] ||
            { point_executor "${queues[i]}" "$LOCKSTEP_BIN" --queue "${queues[i]}"; again+=("$pid"); continue; }
        elsewhere+=(--queue "${queues[i]}")
    done
    point_executor heir "$LOCKSTEP_BIN" "${elsewhere[@]}" --readers 10
    again+=("$pid")
    eventually 30 points_done || points_told "$@"
    kill -TERM "${again[@]}"
    case_begin "the executors that continue after these kills end well, with no lock left and no impossible row: $*"
    for pid in "${again[@]}"; do
        wait "$pid" || { wrong "an executor ended with $?"; tail -qn 5 "$tmp"/*.log; }
    done
    points_check "$@"
    points_report 'an executor is killed at POINT: its run is finished, in order, every effect once' "$@"
}

points_go 2>/dev/null
cases_end
exit $failed
