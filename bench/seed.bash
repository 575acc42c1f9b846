# seed: examples/five_phases.csv on five readers. Reference: the ideal, 41.5 s. Its tasks are given work() for
# pg_sleep(), which sleeps and writes the ledger.

# seed_tasks QUEUE DIVISOR
seed_tasks() {
    tail -n +2 "$root/examples/five_phases.csv" | sort -s -t, -k1,1n | awk -F '[,()]' -v q="$1" -v by="$2" '
        { printf "{\"order\": %d, \"sql\": \"SELECT work('\''%s'\'', %d, %d, %.4f)\"}\n", $1, q, $1, n++, $3 / by }'
}

# seed_rounds ROUNDS DIVISOR TARGET
seed_rounds() {
    local over=() i ideal took
    ideal=$(ratio 41.5 "$2")
    for ((i = 0; i < $1; i++)); do
        new_queue 5
        seed_tasks "$q" "$2" >"$tmp/work.jsonl"
        run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
        work_off 5
        took=$(makespan)
        over+=("$(awk -v is="$took" -v ideal="$ideal" 'BEGIN { printf "%.5g", (is / ideal - 1) * 100 }')")
    done
    figure seed "over the ideal ($ideal s)" '%' "$3" "${over[@]}"
}

workload_seed() {
    seed_rounds "$rounds" 10 '<= 0.5'
    [ "$quick" = true ] || seed_rounds 1 1 '<= 0.1'
}
