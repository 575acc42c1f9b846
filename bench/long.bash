# long: tasks of 20 ms on 8 readers: what is lost between the tasks of a reader, and at the barriers. Reference: the
# ideal, each reader always at work.

workload_long() {
    local over=() i n o took phases=5 tasks=400
    [ "$quick" = false ] || tasks=80
    for ((i = 0; i < rounds; i++)); do
        new_queue 8
        for ((o = 1, n = 0; o <= phases; o++)); do
            for ((t = 0; t < tasks; t++, n++)); do
                echo "{\"order\": $o, \"sql\": \"SELECT work('$q', $o, $n, 0.02)\"}"
            done
        done >"$tmp/work.jsonl"
        run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
        work_off 8
        took=$(makespan)
        over+=("$(awk -v is="$took" -v ideal="$(ratio $((phases * tasks)) 400)" \
            'BEGIN { printf "%.5g", (is / ideal - 1) * 100 }')")
    done
    figure long "over the ideal" '%' '' "${over[@]}"
}
