# bench/work.bash: what the workloads share. Sourced by bench/run.sh after tests/support/shell.bash and
# tests/e2e/ledger.bash.

# new_queue READERS: a queue on a topic of its own, its name in $q; the ledger is emptied.
new_queue() {
    q=$(scratch_name)
    lockstep queue create "$q" -q --create-topic --max-readers "$1" >/dev/null
    sql 'TRUNCATE ledger'
}

# insert_tasks QUEUE PHASES TASKS [params]: staged work, each task one INSERT into the ledger; sorted. The texts differ;
# with params they are the same and the values are parameters.
insert_tasks() {
    awk -v q="$1" -v phases="$2" -v tasks="$3" -v params="${4:-}" 'BEGIN {
        insert = "{\"order\": %d, \"sql\": \"INSERT INTO ledger VALUES (%s, clock_timestamp(), clock_timestamp())\""
        for (p = 1; p <= phases; p++)
            for (t = 0; t < tasks; t++)
                if (params == "")
                    printf insert "}\n", p * 100, sprintf("'\''%s'\'', %d, %d", q, p * 100, n++)
                else
                    printf insert ", \"params\": [\"%s\", %d, %d]}\n", p * 100, "$1, $2, $3", q, p * 100, n++
    }'
}

# work_off READERS [EXECUTORS [BOUND]]: works off $q, whose run $run was published before; then the promises are
# checked. BOUND: the queue's, READERS if it is not given
work_off() {
    executors "${2:-1}" "$q" "$1"
    executors_wait || fail "$(cat "$tmp/$q".*.log)"
    [ "$(sql "SELECT status FROM lockstep.run WHERE run_id = '$run'")" = Completed ] ||
        fail "the run is not Completed: $(cat "$tmp/$q".*.log)"
    check "${3:-$1}"
}

# check READERS: strict order, exactly once, bounded, nothing left over
check() {
    local wrong
    sql 'ANALYZE' # the checker joins what was just written
    wrong=$(ledger_check "$q" "$1")
    [ -z "$wrong" ] || fail "the promises were not kept: $wrong"
    checked=$((checked + 1))
}

# makespan: seconds from the first task's start to the last one's end in $run
makespan() {
    sql "SELECT extract(epoch FROM max(ended_at) - min(started_at)) FROM lockstep.execution_log WHERE run_id = '$run'"
}

# barriers: "p50 p99 max" in ms over the barriers of $run: from the last end of a phase to the first start of the next
barriers() {
    sql "WITH p AS (SELECT \"order\" AS o, min(started_at) AS s, max(ended_at) AS e FROM lockstep.execution_log
                    WHERE run_id = '$run' GROUP BY 1),
              b AS (SELECT extract(epoch FROM s - lag(e) OVER (ORDER BY o)) * 1000 AS ms FROM p)
         SELECT percentile_cont(ARRAY[0.5, 0.99]) WITHIN GROUP (ORDER BY ms) FROM b" | tr -d '{}' | tr ',' ' '
}

# memory PID: VmHWM and VmRSS in MB; nothing when it has ended
memory() { awk '/^Vm(HWM|RSS)/ { printf "%.1f ", $2 / 1024 } END { print "" }' "/proc/$1/status" 2>/dev/null || true; }

# now: seconds, for the wall time of a whole process
now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.3f\n", b - a }'; }
