# spread: the same short tasks on 1 to 16 readers, and on 1, 2 and 4 executors. Each beside one executor with 4 readers
# in the same round.

# spread_rate EXECUTORS READERS: tasks a second
spread_rate() {
    new_queue "$(($1 * $2))"
    insert_tasks "$q" 5 2000 params >"$tmp/work.jsonl"
    run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
    work_off "$2" "$1" "$(($1 * $2))"
    rate=$(sql "SELECT count(*) / extract(epoch FROM max(ended_at) -
                    (SELECT min(claimed_at) FROM lockstep.phase JOIN lockstep.run USING (run_no) WHERE run_id = '$run'))
                FROM lockstep.execution_log WHERE run_id = '$run'")
}

workload_spread() {
    local i shape base rate
    declare -A ratios=()
    for ((i = 0; i < rounds; i++)); do
        spread_rate 1 4
        base=$rate
        for shape in '1 1' '1 2' '1 8' '1 16' '2 2' '2 4' '4 1' '4 4'; do
            # shellcheck disable=SC2086
            spread_rate $shape
            ratios[$shape]+=" $(ratio "$rate" "$base")"
        done
    done
    for shape in '1 1' '1 2' '1 8' '1 16' '2 2' '2 4' '4 1' '4 4'; do
        # shellcheck disable=SC2086
        figure spread "${shape% *} executors x ${shape#* } readers / 1 x 4" ratio '' ${ratios[$shape]}
    done
}
