# start: from exec of an executor, its servers running and a run waiting, to the start of its first task.

workload_start() {
    local took=() i at
    for ((i = 0; i < rounds * 3; i++)); do
        new_queue 4
        insert_tasks "$q" 1 20 >"$tmp/work.jsonl"
        run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
        at=$(now)
        work_off 4
        took+=("$(sql "SELECT extract(epoch FROM min(started_at)) - $at FROM lockstep.execution_log
            WHERE run_id = '$run'")")
    done
    figure start 'exec to first task' s '<= 0.3' "${took[@]}"
}
