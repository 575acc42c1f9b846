# full: what a task costs beside two million finished tasks (200,000 with --quick) and 1,000 open runs, in terms of what
# it costs without them in the same round.

# full_rate TASKS [COMMAND...]: tasks a second of so many INSERTs on 4 readers, in $rate, and the buffers that the
# server looked at for one of them, in $buffers; for an executor that starts, and ends, with one of them, in $start.
# COMMAND comes before they are published.
full_rate() {
    local tasks=$1
    shift
    new_queue 4
    [ $# = 0 ] || "$@"
    full_run 1
    start=$used
    full_run "$tasks"
    buffers=$(ratio $((used - start)) $((tasks - 1)))
    rate=$(sql "SELECT count(*) / extract(epoch FROM max(ended_at) - (SELECT min(claimed_at)
        FROM lockstep.phase JOIN lockstep.run USING (run_no) WHERE run_id = '$run'))
                FROM lockstep.execution_log WHERE run_id = '$run'")
}
# full_run TASKS: publishes them; an executor works them off. What the server looked at, in $used.
full_run() {
    local before
    sql 'TRUNCATE ledger'
    insert_tasks "$q" 1 "$1" params >"$tmp/work.jsonl"
    run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
    before=$(buffers_used)
    full_executor 4 120 run_is_over
    used=$(($(buffers_used) - before))
    [ "$(sql "SELECT count(*) = $1 AND count(DISTINCT seq) = $1 FROM ledger")" = t ] || fail 'not each task once'
    checked=$((checked + 1))
}
# full_executor READERS SECONDS CONDITION: an executor that is ended when that is so, which takes so long at most
full_executor() {
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers "$1" 2>"$tmp/$q.log" &
    local pid=$!
    eventually "$2" "$3" || fail "$(cat "$tmp/$q.log")"
    kill -TERM "$pid"
    wait "$pid" || fail "$(cat "$tmp/$q.log")"
}

# A session tells of what it did when it ends, so those of an executor that has ended are all in it.
buffers_used() { sql 'SELECT blks_read + blks_hit FROM pg_stat_database WHERE datname = current_database()'; }

# settle: what filling and the round before have left to be written, or to be vacuumed, is not what is measured.
settle() {
    sql CHECKPOINT
    sync
    eventually 600 is_settled || fail 'the server does not come to rest'
}
is_settled() {
    awk '/^(Dirty|Writeback):/ { kb += $2 } END { exit kb > 65536 }' /proc/meminfo &&
        [ "$(sql "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'")" = 0 ]
}

# fill_finished TASKS: finished tasks of another queue, as an executor leaves them.
fill_finished() {
    sql "INSERT INTO lockstep.queue (name, topic) VALUES ('full', 'full');
         INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, first_offset, end_offset, ended_at)
         SELECT gen_random_uuid(), queue_id, 'stop', 'Completed', 0, 0, now()
         FROM lockstep.queue, generate_series(1, 100) WHERE name = 'full';
         INSERT INTO lockstep.phase (run_no, queue_id, \"order\", previous_order, opened_at, done_at)
         SELECT run_no, queue_id, o, o - 1, now(), now()
         FROM lockstep.run JOIN lockstep.queue q USING (queue_id), generate_series(1, 10) AS o WHERE q.name = 'full';
         INSERT INTO lockstep.task (phase_id, run_no, queue_id, status, type, \"order\", seq, kafka_offset, payload,
                                    executor_no, attempt_num, started_at, duration)
         SELECT p.phase_id, p.run_no, p.queue_id, 'Completed', 'sql', p.\"order\", n, n, repeat('x', 120), 1, 1,
             now(), interval '1 ms'
         FROM lockstep.phase p JOIN lockstep.queue q USING (queue_id), generate_series(1, $1 / 1000) AS n
         WHERE q.name = 'full'"
    sql 'VACUUM ANALYZE'
}

# Runs that stay open: each waits for a worker who does not come.
open_runs() {
    lockstep queue set "$q" -q --runs concurrent
    sql "SELECT count(lockstep.enqueue('$q', ARRAY['{\"order\": 1, \"type\": \"external\"}'::jsonb]))
        FROM generate_series(1, 1000)" >/dev/null
    full_executor 1 60 all_claimed
}
all_claimed() {
    [ "$(sql "SELECT count(*) FROM lockstep.task t JOIN lockstep.queue k USING (queue_id)
        WHERE k.name = '$q' AND t.type = 'external'")" = 1000 ]
}

# in_turns NAME COMMAND TASKS: "COMMAND SIDE TASKS" measures the sides alone and beside, in a round each of them twice
# and in an order that favours neither: a window of a few seconds says little on a machine that others use as well.
in_turns() {
    local i side costs=() looks=() starts=() rate buffers used start
    for ((i = 0; i < rounds; i++)); do
        local -A seconds=([alone]=0 [beside]=0) looked=() started=()
        for side in alone beside beside alone; do
            settle
            "$2" "$side" "$3"
            seconds[$side]=$(awk -v a="${seconds[$side]}" -v tasks="$3" -v rate="$rate" \
                'BEGIN { print a + tasks / rate }')
            looked[$side]=$(awk -v a="${looked[$side]:-0}" -v b="$buffers" 'BEGIN { print a + b }')
            started[$side]=$start
        done
        starts+=($((started[beside] - started[alone])))
        costs+=("$(ratio "${seconds[beside]}" "${seconds[alone]}")")
        looks+=("$(ratio "${looked[beside]}" "${looked[alone]}")")
    done
    figure full "cost with $1 / alone" ratio '<= 1.1' "${costs[@]}"
    figure full "buffers with $1 / alone" ratio '<= 1.1' "${looks[@]}"
    figure full "buffers of a start with $1, over those alone" '' '' "${starts[@]}"
}
# fresh COMMAND...: in a database of its own
fresh() {
    local kept=$db
    scratch_database 2>/dev/null
    ledger_create
    "$@"
    scratch_drop
    db=$kept
}
with_open_runs() { if [ "$1" = beside ]; then fresh full_rate "$2" open_runs; else fresh full_rate "$2"; fi; }
with_finished() { if [ "$1" = beside ]; then full_rate "$2"; else fresh full_rate "$2"; fi; }

workload_full() {
    local finished=2000000 kept=$db
    [ "$quick" = false ] || finished=200000
    finished=${BENCH_FINISHED:-$finished}
    in_turns '1,000 open runs' with_open_runs 20000
    scratch_database 2>/dev/null
    ledger_create
    fill_finished "$finished"
    in_turns "$finished finished" with_finished 60000
    scratch_drop
    db=$kept
}
