# full: what a task costs beside two million finished tasks (200,000 with --quick) and 1,000 open runs, in terms of what it costs in
# empty tables in the same round.

# full_rate: tasks a second of 1 x 20,000 INSERTs on 4 readers, in $rate; queue options in $1...
full_rate() {
    new_queue 4
    [ $# = 0 ] || "$@"
    insert_tasks "$q" 1 20000 params >"$tmp/work.jsonl"
    run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 4 2>"$tmp/$q.log" &
    local pid=$!
    eventually 120 run_is_over || fail "$(cat "$tmp/$q.log")"
    kill -TERM "$pid"
    wait "$pid" || fail "$(cat "$tmp/$q.log")"
    [ "$(sql "SELECT count(*) = 20000 AND count(DISTINCT seq) = 20000 FROM ledger")" = t ] || fail 'not each task once'
    checked=$((checked + 1))
    rate=$(sql "SELECT count(*) / extract(epoch FROM max(ended_at) - (SELECT min(claimed_at) FROM lockstep.phase JOIN lockstep.run USING (run_no) WHERE run_id = '$run'))
                FROM lockstep.execution_log WHERE run_id = '$run'")
}

# Finished tasks of another queue.
fill_finished() {
    sql "INSERT INTO lockstep.queue (name, topic) VALUES ('full', 'full');
         INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, first_offset, end_offset, ended_at)
         SELECT gen_random_uuid(), queue_id, 'stop', 'Completed', 0, 0, now() FROM lockstep.queue, generate_series(1, 100) WHERE name = 'full';
         INSERT INTO lockstep.phase (run_no, queue_id, \"order\", previous_order, opened_at, done_at)
         SELECT run_no, queue_id, o, o - 1, now(), now() FROM lockstep.run JOIN lockstep.queue q USING (queue_id), generate_series(1, 10) AS o WHERE q.name = 'full';
         INSERT INTO lockstep.task (phase_id, run_no, queue_id, status, type, \"order\", seq, kafka_offset, payload, attempt_num, started_at, duration)
         SELECT p.phase_id, p.run_no, p.queue_id, 'Completed', 'sql', p.\"order\", n, n, repeat('x', 120), 1, now(), interval '1 ms'
         FROM lockstep.phase p JOIN lockstep.queue q USING (queue_id), generate_series(1, $1 / 1000) AS n WHERE q.name = 'full'"
    "$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$db" -c 'VACUUM ANALYZE' -c CHECKPOINT # what filling has left to be written is not what is measured
}

# Runs that stay open: each waits for a worker who does not come.
open_runs() {
    lockstep queue set "$q" -q --runs concurrent
    sql "SELECT count(lockstep.enqueue('$q', ARRAY['{\"order\": 1, \"type\": \"external\"}'::jsonb])) FROM generate_series(1, 1000)" >/dev/null
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 1 2>"$tmp/$q.open.log" &
    local pid=$!
    eventually 60 all_claimed || fail "$(cat "$tmp/$q.open.log")"
    kill -TERM "$pid"
    wait "$pid" || fail "$(cat "$tmp/$q.open.log")"
}
all_claimed() { [ "$(sql "SELECT count(*) FROM lockstep.task t JOIN lockstep.queue k USING (queue_id) WHERE k.name = '$q' AND t.type = 'external'")" = 1000 ]; }

workload_full() {
    local i finished=2000000 base=() opened=() ratios=() rate
    [ "$quick" = false ] || finished=200000
    finished=${BENCH_FINISHED:-$finished}
    for ((i = 0; i < rounds; i++)); do
        full_rate
        base+=("$rate")
        full_rate open_runs
        opened+=("$(ratio "${base[i]}" "$rate")")
    done
    figure full 'cost with 1,000 open runs / alone' ratio '<= 1.1' "${opened[@]}"
    base=()
    for ((i = 0; i < rounds; i++)); do
        sql 'DELETE FROM lockstep.queue'
        "$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$db" -c 'VACUUM FULL lockstep.task'
        full_rate
        base+=("$rate")
        fill_finished $finished
        full_rate
        ratios+=("$(ratio "${base[i]}" "$rate")")
    done
    figure full "cost with $finished finished / alone" ratio '<= 1.1' "${ratios[@]}"
}
