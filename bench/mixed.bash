# mixed: phases of 1 to 200 tasks, half of them of no length and half of up to 10 ms, a tenth in blocks of their own
# (DO), on 4 readers; with one executor and with two. Reference: what no schedule can beat: in each phase the longest
# task, or a reader's share of all of them.

mixed_rounds() { # EXECUTORS
    local over=() i took least
    for ((i = 0; i < rounds; i++)); do
        new_queue 4
        ledger_tasks "$q" $((i + 1)) 40 200 10 >"$tmp/work.jsonl"
        run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
        work_off 4 "$1"
        took=$(makespan)
        least=$(sql "WITH t AS (SELECT \"order\" AS o, extract(epoch FROM duration) AS s FROM lockstep.execution_log
                                WHERE run_id = '$run'),
                         p AS (SELECT greatest(max(s), sum(s) / 4) AS s FROM t GROUP BY o)
                    SELECT sum(s) FROM p")
        over+=("$(awk -v is="$took" -v least="$least" 'BEGIN { printf "%.5g", (is / least - 1) * 100 }')")
    done
    figure mixed "$1 executors: over the least possible" '%' '' "${over[@]}"
}

workload_mixed() {
    mixed_rounds 1
    mixed_rounds 2
}
