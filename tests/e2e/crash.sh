#!/bin/bash
# The database crashes while runs are executed: a backend is killed, the server is shut down at once, or it is killed
# with its last commits still in memory. A prefix survives, and the executors continue from the cursor that they find.
# ctest: nosan timeout=180 long
. "$(dirname "$0")/../support/begin.bash"
. "$here/../support/cluster.bash"
e2e_leave() { cluster_close; }
cluster_open
pg_init main wal_buffers=16MB checkpoint_timeout=1h restart_after_crash=on
pg_start main
db=$(pg_conninfo main)
"$LOCKSTEP_BIN" migrate up -q -d "$db" >/dev/null
ledger_create
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 6
daemon() { # N: executors that do not end by themselves
    local i
    for ((i = 0; i < $1; i++)); do
        "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" -s executor.heartbeat=2500ms --queue "$q" \
            --readers 3 2>>"$tmp/$i.log" &
        executors+=($!)
    done
}
completed() { [ "$(sql "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" 2>/dev/null)" = Completed ]; }
effects() { [ "$(sql "SELECT count(*) >= $1 FROM ledger WHERE ord >= $base" 2>/dev/null)" = t ]; }
# Cursor, claims, effects and records are one prefix. Asked when no executor can have changed anything since the crash.
prefix() {
    sql <<SQL
SELECT 'effects without a completed task: ' || count(*) FROM ledger l WHERE NOT EXISTS (
    SELECT FROM lockstep.task t WHERE t."order" = l.ord AND t.seq = l.seq AND t.status = 'Completed')
HAVING count(*) > 0;
SELECT 'completed tasks without an effect: ' || count(*) FROM lockstep.task t JOIN lockstep.run r USING (run_no)
WHERE r.run_id = '$run' AND t.status = 'Completed' AND NOT EXISTS (
    SELECT FROM ledger l WHERE t."order" = l.ord AND t.seq = l.seq) HAVING count(*) > 0;
SELECT 'the cursor is ' || q.next_offset || ', the last claimed record ' || max(t.kafka_offset)
FROM lockstep.queue q JOIN lockstep.task t USING (queue_id) JOIN lockstep.run r USING (run_no)
WHERE r.run_id = '$run' AND r.end_offset IS NULL GROUP BY q.next_offset HAVING max(t.kafka_offset) + 1 <> q.next_offset;
SELECT 'claimed ' || count(t.task_id) || ' of seq 0 to ' || max(t.seq)
FROM lockstep.task t JOIN lockstep.run r USING (run_no)
WHERE r.run_id = '$run' HAVING count(t.task_id) <> max(t.seq) + 1
SQL
}
publish() { # FIRST_ORDER TASKS PHASE SECONDS: so many, in phases of PHASE tasks
    local i
    base=$1
    for ((i = 0; i < $2; i++)); do
        echo "{\"order\": $((base + i / $3)), \"sql\": \"SELECT work('$q', $((base + i / $3)), $i, $4)\"}"
    done >"$tmp/tasks.jsonl"
    run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
}
judge() { # WHAT TASKS
    eventually 40 completed || { failed=1; lockstep run show "$run"; }
    wrong=$(ledger_check "$q" 6 | grep -v '^a lock is left' || true)
    expect "$1" "$wrong" ''
    expect "$1: effects" "$(sql "SELECT count(*) FROM ledger WHERE ord >= $base")" "$2"
}

case_begin 'after a crash of the server cursor, claims, effects and records are one prefix'
daemon 3
publish 1 1200 200 0.004
eventually 30 effects 200
kill -9 "$(sql "SELECT pid FROM pg_stat_activity WHERE application_name = 'lockstep/reader' LIMIT 1")"
eventually 30 effects 600
pg_stop main immediate
pg_start main
judge 'after a killed backend and an immediate shutdown' 1200

case_begin 'when the server loses its last commits, executors continue from the remaining ones'
# The last commits are lost, more than once: with the executors at work, and with executors that stand still for a
# moment, so that the rows before the crash can be compared with those behind it.
lost=0 back=0
publish 1000 9000 3000 0
counts() {
    sql "SELECT (SELECT count(*) FROM ledger WHERE ord >= $base), next_offset FROM lockstep.queue" | tr '|' ' '
}
for at in 1000 4000 7000; do
    eventually 30 effects "$at"
    # With its writer stopped, a commit stays in memory until a synchronous one comes by: a heartbeat.
    kill -STOP "$(sql "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'")"
    eventually 30 effects $((at + 300))
    [ "$at" = 1000 ] || kill -STOP "${executors[@]}"
    read -r effects cursor < <(counts)
    pg_crash main
    kill -STOP "${executors[@]}"
    pg_start main
    expect "the prefix after the crash at $at" "$(prefix)" ''
    read -r effects_left cursor_left < <(counts)
    [ "$effects_left" -ge "$effects" ] || lost=$((lost + 1))
    [ "$cursor_left" -ge "$cursor" ] || back=$((back + 1))
    printf 'crash at %s: effects %s -> %s, cursor %s -> %s\n' "$at" "$effects" "$effects_left" "$cursor" "$cursor_left"
    kill -CONT "${executors[@]}"
done
[ "$lost" -gt 0 ] && [ "$back" -gt 0 ] || { echo 'no crash lost anything: this proves nothing'; failed=1; }
judge 'after lost commits' 9000

for pid in "${executors[@]}"; do kill -TERM "$pid"; done
for pid in "${executors[@]}"; do wait "$pid" || { echo "an executor ended with $?"; failed=1; }; done
no_locks_left
cases_end
[ $failed = 0 ] || tail -n 20 "$tmp"/*.log
exit $failed
