# queues: the same tasks on 1, 4 and 16 queues that one executor with 4 readers works off, and with an executor for each
# of 4. Beside one queue in the same round.

# queues_rate QUEUES EXECUTORS: tasks a second, in $rate
queues_rate() {
    local total=64000 names=() i pid pids=() from
    for ((i = 0; i < $1; i++)); do
        new_queue 4
        names+=("$q")
        insert_tasks "$q" 4 $((total / $1 / 4)) params >"$tmp/work.jsonl"
        lockstep publish --queue "$q" -q "$tmp/work.jsonl" >/dev/null
    done
    from=$(now)
    for ((i = 0; i < $2; i++)); do
        # shellcheck disable=SC2046 # two words for each queue
        "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --readers $((4 / $2)) --until-idle \
            $(for ((j = i; j < $1; j += $2)); do echo "--queue ${names[j]}"; done) 2>"$tmp/queues.$i.log" &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || fail "$(cat "$tmp"/queues.*.log)"; done
    rate=$(sql "SELECT count(*) / extract(epoch FROM max(ended) - to_timestamp($from)) FROM ledger")
    for q in "${names[@]}"; do check 4; done
    sql "DELETE FROM lockstep.queue"
}

workload_queues() {
    local i shape base rate
    declare -A ratios=()
    for ((i = 0; i < rounds; i++)); do
        queues_rate 1 1
        base=$rate
        for shape in '4 1' '16 1' '4 4'; do
            # shellcheck disable=SC2086
            queues_rate $shape
            ratios[$shape]+=" $(ratio "$rate" "$base")"
        done
    done
    for shape in '4 1' '16 1' '4 4'; do
        # shellcheck disable=SC2086
        figure queues "${shape% *} queues, ${shape#* } executors / 1, 1" ratio '' ${ratios[$shape]}
    done
}
