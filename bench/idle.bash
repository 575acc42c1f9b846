# idle: an executor with nothing to do: its statements (counted in the server's log) and the processor time it takes.

# cpu_ms PID: processor time of its threads so far; /proc/PID/stat has it in hundredths of a second only
cpu_ms() { cat "/proc/$1/task"/*/schedstat | awk '{ ns += $1 } END { print ns / 1e6 }'; }

workload_idle() {
    local seconds=60 pid log=$LOCKSTEP_TEST_HOME/postgres.log from cpu statements
    [ "$quick" = false ] || seconds=20
    new_queue 4
    insert_tasks "$q" 2 20 >"$tmp/work.jsonl"
    run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
    sql "ALTER DATABASE ${db##*dbname=} SET log_statement = 'all'"
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 4 2>"$tmp/$q.log" &
    pid=$!
    eventually 30 run_is_over
    sleep 3 # what follows work: slots go back, lag is told
    from=$(wc -l <"$log")
    cpu=$(cpu_ms "$pid")
    sleep "$seconds"
    statements=$(tail -n +"$((from + 1))" "$log" |
        grep -c " ${db##*dbname=} lockstep/.* LOG:  \(execute\|statement\)" || true)
    cpu=$(ratio "$(awk -v a="$cpu" -v b="$(cpu_ms "$pid")" 'BEGIN { print (b - a) * 60 }')" "$seconds")
    kill -TERM "$pid"
    wait "$pid" || fail "the executor did not end well: $(cat "$tmp/$q.log")"
    check 4
    figure idle 'statements' '1/minute' '<= 15' "$(ratio "$((statements * 60))" "$seconds")"
    figure idle 'processor time' 'ms/minute' '<= 60' "$cpu"
}

run_is_over() { [ "$(sql "SELECT status FROM lockstep.run WHERE run_id = '$run'")" = Completed ]; }
