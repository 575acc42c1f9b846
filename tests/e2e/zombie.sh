#!/bin/bash
# An executor stands still (SIGSTOP) for longer than T2 at every point of a task's life. Another one ends its sessions, takes its
# work over and finishes the run; then the first one wakes: no effect of it commits, and it goes on as a new incarnation.
# Several points at a time, each with a queue of its own. LOCKSTEP_TEST_POINTS names other ones.
# ctest: timeout=240
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/shell.bash"
. "$here/ledger.bash"
. "$here/probes.bash"
tmp=$(mktemp -d)
trap 'jobs -p | xargs -r kill -9 2>/dev/null; scratch_drop; rm -rf "$tmp"' EXIT
scratch_database 2>/dev/null
points_create
batch=${LOCKSTEP_TEST_BATCH:-16}
hit() { [ -f "$1" ]; }
stopped() { [ "$(sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null)" = T ]; }
done_all() { is "SELECT count(*) FROM lockstep.run WHERE status <> 'Completed'" 0; }
again() { [ "$(grep -c 'event=executor_started' "$tmp/$1.log")" -ge 2 ]; }

# What the runs wait for that did not end in time.
told() {
    failed=1
    for i in "${!queues[@]}"; do
        [ "$(sql "SELECT count(*) FROM lockstep.run JOIN lockstep.queue q USING (queue_id) WHERE q.name = '${queues[i]}' AND run.status <> 'Completed'")" = 0 ] || {
            echo "${*:i+1:1}: its run has not ended:"
            sql "SELECT 'phase ' || p.phase_id, p.opened_at IS NOT NULL AS open, t.status, t.executor_no, e.ended_why, count(*) FROM lockstep.task t JOIN lockstep.phase p USING (phase_id) JOIN lockstep.queue q ON q.queue_id = p.queue_id LEFT JOIN lockstep.executor e USING (executor_no) WHERE q.name = '${queues[i]}' GROUP BY 1, 2, 3, 4, 5 ORDER BY 1"
            grep "${queues[i]}" "$tmp/heir.log" | tail -n 5
        }
    done
    sql "SELECT e.executor_no, e.pid, kind, a.pid, a.state, a.wait_event, left(a.query, 60) FROM lockstep.executor_session s JOIN lockstep.executor e USING (executor_no) LEFT JOIN pg_stat_activity a ON a.pid = s.pid AND a.backend_start = s.backend_start"
}

# go POINT...: all of them at once
go() {
    local point q pid heir options=() pids=() queues=() fencer=''
    for point; do
        q=$(scratch_name)
        queues+=("$q")
        options+=(--queue "$q")
        point_run "$q" &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid"; done
    pids=()
    for i in "${!queues[@]}"; do
        point_start "${@:i+1:1}" stop "${queues[i]}"
        pids+=("$pid")
    done
    for i in "${!queues[@]}"; do
        point=${*:i+1:1} point=${point%+*}
        eventually 20 hit "$tmp/${queues[i]}.hit/${point%@*}.hit" || { failed=1; tail -n 5 "$tmp/${queues[i]}.log"; }
        eventually 5 stopped "${pids[i]}" || failed=1
    done
    if [ "$1" = start.enrolled ]; then # one that stands still just when it is about to end another
        q=$(scratch_name)
        lockstep queue create "$q" -q --create-topic
        point_start fence.send stop "$q"
        fencer=$pid
        eventually 20 hit "$tmp/$q.hit/fence.send.hit" || failed=1
        queues+=("$q") pids+=("$fencer")
    fi
    point_executor heir "$LOCKSTEP_BIN" "${options[@]}" --readers 10
    heir=$pid
    eventually 30 done_all || told "$@"
    sql "DROP TABLE IF EXISTS before; CREATE TABLE before (LIKE ledger); INSERT INTO before SELECT * FROM ledger"
    kill -CONT "${pids[@]}" || failed=1
    for i in "${!queues[@]}"; do
        case ${*:i+1:1} in *+term) continue ;; esac # it was about to leave
        eventually 15 again "${queues[i]}" || { echo "${*:i+1:1}: it did not start anew"; failed=1; tail -n 5 "$tmp/${queues[i]}.log"; }
    done
    kill -TERM "${pids[@]}" "$heir" 2>/dev/null || true
    for i in "${!queues[@]}"; do
        wait "${pids[i]}" || { echo "${*:i+1:1}: it ended with $?"; failed=1; tail -n 5 "$tmp/${queues[i]}.log"; }
    done
    wait "$heir" || { echo "the heir ended with $?"; failed=1; tail -n 5 "$tmp/heir.log"; }
    expect 'effects of those who woke' "$(sql 'TABLE ledger EXCEPT ALL TABLE before')" ''
    for i in "${!queues[@]}"; do
        [ "${pids[i]}" = "$fencer" ] || point_check "${queues[i]}" "${*:i+1:1}" >"$tmp/wrong"
        [ ! -s "$tmp/wrong" ] || { cat "$tmp/wrong"; failed=1; }
    done
    expect 'locks that are left' "$(sql "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")" 0
}

read -ra all <<<"$(tr '\n' ' ' <<<"${LOCKSTEP_TEST_POINTS:-$points}")"
for ((from = 0; from < ${#all[@]}; from += batch)); do
    go "${all[@]:from:batch}"
done
printf '%s points, %s seconds\n' "${#all[@]}" "$SECONDS"
exit $failed
