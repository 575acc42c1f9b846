#!/bin/bash
# An executor is frozen (SIGSTOP) for longer than T2 at every point of a task's life. Another one ends its sessions,
# adopts its work and finishes the run. Then the first one wakes: no effect of it commits, and it continues as a new
# incarnation. Several points at a time, each with a queue of its own. LOCKSTEP_TEST_POINTS names other ones.
# ctest: nosan timeout=240 long
. "$(dirname "$0")/../support/e2e.bash"
. "$here/probes.bash"
points_create

# go POINT...: all of them at once
go() {
    local q i status pid heir options=() pids=() queues=()
    points_runs "$@"
    for i in "${!queues[@]}"; do
        point_start "${@:i+1:1}" stop "${queues[i]}"
        pids+=("$pid") options+=(--queue "${queues[i]}")
    done
    for i in "${!queues[@]}"; do
        points_hit "${@:i+1:1}" "${queues[i]}"
        eventually 10 stopped "${pids[i]}" || point_wrong "${queues[i]}" 'the executor does not stand still'
    done
    if [ "$1" = start.enrolled+start ]; then # one that stands still just when it is about to end another
        q=$(scratch_name)
        lockstep queue create "$q" -q --create-topic
        point_start fence.send stop "$q"
        points_hit fence.send "$q"
        set -- "$@" fence.send
        queues+=("$q") pids+=("$pid")
    fi
    point_executor heir "$LOCKSTEP_BIN" "${options[@]}" --readers 10
    heir=$pid
    eventually 30 points_done || points_told "$@"
    sql "DROP TABLE IF EXISTS before; CREATE TABLE before (LIKE ledger); INSERT INTO before SELECT * FROM ledger"
    kill -CONT "${pids[@]}" || failed=1
    for i in "${!queues[@]}"; do
        case ${*:i+1:1} in *+term | *+start) continue ;; esac
        eventually 15 points_again "${queues[i]}" ||
            point_wrong "${queues[i]}" "the executor did not start again: $(tail -n 5 "$tmp/${queues[i]}.log")"
    done
    jobs_tell TERM "${pids[@]}" "$heir"
    for i in "${!queues[@]}"; do
        wait "${pids[i]}" || { status=$?; [[ $status = 3 && ${*:i+1:1} = *+start ]]; } ||
            point_wrong "${queues[i]}" "the executor ended with $status: $(tail -n 5 "$tmp/${queues[i]}.log")"
    done
    case_begin "no executor that wakes has an effect, and its heir ends well, with no lock left and no impossible row: $*"
    ends_well "$heir" 'the heir'
    expect 'effects of those who woke' "$(sql 'TABLE ledger EXCEPT ALL TABLE before')" ''
    points_check "$@"
    points_report 'an executor stands still at POINT: another one finishes its run, and it starts again when it wakes' \
        "$@"
}

points_go
[ -n "${LOCKSTEP_TEST_POINTS:-}" ] || points_reached
cases_end
exit $failed
