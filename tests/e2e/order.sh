#!/bin/bash
# Strict order, exactly once, bounded: many shapes, 1, 2 and 4 executors, 1 to 16 readers, phases of 1 to 500 tasks,
# three seeds.
# ctest: timeout=240 long
. "$(dirname "$0")/../support/e2e.bash"
ledger_create

# shape EXECUTORS READERS BOUND SEED PHASES MOST_TASKS MOST_MS
shape() {
    local q run found
    case_begin "strict order, each task once, at most $3 at a time: $1 executors, $2 readers, phases of up to $6 tasks, seed $4"
    q=$(scratch_name)
    lockstep queue create "$q" -q --create-topic --max-readers "$3" >/dev/null
    ledger_tasks "$q" "$4" "$5" "$6" "$7" >"$tmp/$q.jsonl"
    executors "$1" "$q" "$2"
    run=$(lockstep publish --queue "$q" -q "$tmp/$q.jsonl")
    executors_wait || { failed=1; cat "$tmp/$q".*.log; }
    # An executor may have come to the end of the topic before the run was there.
    [ "$(sql "SELECT status FROM lockstep.run WHERE run_id = '$run'")" = Completed ] || {
        executors "$1" "$q" "$2"
        executors_wait || failed=1
    }
    found=$(ledger_check "$q" "$3")
    [ -z "$found" ] || wrong "$found"
    expect "the run of $(wc -l <"$tmp/$q.jsonl") tasks" \
        "$(sql "SELECT status FROM lockstep.run WHERE run_id = '$run'")" Completed
}

for seed in 1 2 3; do
    shape 1 1 1 "$seed" 6 20 4
    shape 1 16 16 "$seed" 6 500 4
    shape 2 5 7 "$seed" 12 60 6
    shape 4 4 6 "$seed" 8 200 4
done
cases_end
exit $failed
