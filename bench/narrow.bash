# narrow: 100 phases of 20 INSERTs, 4 readers, one executor: what a barrier costs. Reference: two sessions that hand an advisory
# lock over (bench/handoff.c).

workload_narrow() {
    local p50=() p99=() hand=() times=() i b h
    for ((i = 0; i < rounds; i++)); do
        new_queue 4
        insert_tasks "$q" 100 20 >"$tmp/work.jsonl"
        run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
        work_off 4
        read -r -a b < <(barriers)
        p50+=("${b[0]}")
        p99+=("${b[1]}")
        h=$("$build/bench_handoff" "$db" 300 'SELECT pg_advisory_lock(1, 1)' 'SELECT pg_advisory_unlock(1, 1)' | sort -n |
            awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] / 1000 }')
        hand+=("$h")
        times+=("$(ratio "${b[0]}" "$h")")
    done
    figure narrow 'barrier p50' ms '<= 2' "${p50[@]}"
    figure narrow 'barrier p99' ms '' "${p99[@]}"
    figure narrow 'reference: lock handed over, p50' ms '' "${hand[@]}"
    figure narrow 'barrier p50 / reference' ratio '' "${times[@]}"
}
