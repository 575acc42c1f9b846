# narrow: 500 phases of 20 INSERTs (100 with --quick), 4 readers: what a barrier costs, with one executor and with two.
# Reference: two sessions that hand an advisory lock over (bench/handoff.c).

# narrow_rounds EXECUTORS TARGET_P50 TARGET_P99 TARGET_RATIO
narrow_rounds() {
    local p50=() p99=() hand=() times=() i b h phases=500
    [ "$quick" = false ] || phases=100
    for ((i = 0; i < rounds; i++)); do
        new_queue 4
        insert_tasks "$q" $phases 20 >"$tmp/work.jsonl"
        run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
        work_off 4 "$1"
        read -r -a b < <(barriers)
        p50+=("${b[0]}")
        p99+=("${b[1]}")
        h=$("$build/bench_handoff" "$db" 300 'SELECT pg_advisory_lock(1, 1)' 'SELECT pg_advisory_unlock(1, 1)' |
            sort -n |
            awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] / 1000 }')
        hand+=("$h")
        times+=("$(ratio "${b[0]}" "$h")")
    done
    figure narrow "$1 executors: barrier p50" ms "<= $2" "${p50[@]}"
    figure narrow "$1 executors: barrier p99" ms "<= $3" "${p99[@]}"
    figure narrow "$1 executors: lock handed over, p50" ms '' "${hand[@]}"
    figure narrow "$1 executors: barrier p50 / hand-over" ratio "$4" "${times[@]}"
}

workload_narrow() {
    narrow_rounds 1 0.5 3 '<= 3'
    narrow_rounds 2 1 5 ''
}
