#!/bin/bash
# What `queue advise` foretells is what happens: three shapes of runs with 1, 2, 4 and 8 readers, each replayed with its own number and with the others, within
# 5 % of what was measured. The tasks sleep, so that it does not depend on how many processors there are. A machine that is busy for a moment delays one run:
# what did not fit is run again, until every pair has fitted once. A model that is wrong never fits. What else the command says: tests/cli/advise.bats.
# ctest: nosan timeout=600 long
. "$(dirname "$0")/../support/e2e.bash"
failed=0

sleeping() { # ORDER NAME SECONDS
    printf '{"order": %d, "name": "%s", "sql": "SELECT pg_sleep(%s)"}\n' "$@"
}
even() { for o in 1 2; do for n in 1 2 3 4 5 6 7 8; do sleeping $o "even $n" 0.2; done; done; }
straggler() { for o in 1 2; do for n in 1 2 3 4 5 6 7; do sleeping $o "short $n" 0.1; [ $n != 2 ] || sleeping $o long 0.6; done; done; }
many() { for o in $(seq 12); do for n in 1 2 3; do sleeping "$o" "many $n" 0.08; done; done; }

declare -A queue
arguments=()
for shape in even straggler many; do
    queue[$shape]=$(scratch_name)
    lockstep queue create "${queue[$shape]}" -q --create-topic
    $shape >"$tmp/$shape.jsonl"
    arguments+=(--queue "${queue[$shape]}")
done
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" "${arguments[@]}" --readers 24 2>"$tmp/executor.log" &
executor=$!

# One run of a shape with so many readers: its makespan to $tmp/SHAPE.N.took, what is foretold from it to $tmp/SHAPE.N.json.
measure() { # SHAPE N
    local q=${queue[$1]} run
    lockstep queue set "$q" --max-readers "$2" -q
    run=$(lockstep publish --queue "$q" --wait -q "$tmp/$1.jsonl")
    sql "SELECT extract(epoch FROM max(t.started_at + t.duration) - min(t.started_at)) FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$run'" >"$tmp/$1.$2.took"
    lockstep queue advise "$q" --runs 1 --readers 8 -o json >"$tmp/$1.$2.json"
}
# Runs each shape of which a pair has not fitted yet, and prints what has.
round() {
    local shape n jobs
    for n in 1 2 4 8; do
        jobs=()
        for shape in "${left[@]}"; do
            measure "$shape" "$n" &
            jobs+=($!)
        done
        for shape in "${jobs[@]}"; do wait "$shape" || { echo 'a run could not be measured'; exit 1; }; done
    done
    for shape in "${left[@]}"; do
        for from in 1 2 4 8; do
            for n in 1 2 4 8; do
                jq -r --argjson n $n --argjson took "$(<"$tmp/$shape.$n.took")" --arg pair "$shape $from $n" \
                    '.readers[$n - 1].makespan_s / $took | if . > 0.95 and . < 1.05 then "fits \($pair)" else "\($pair): \(.)" end' "$tmp/$shape.$from.json"
            done
        done
    done >"$tmp/round"
    sed -n 's/^fits //p' "$tmp/round" >>"$tmp/fits"
    grep -v '^fits' "$tmp/round" >>"$tmp/others" || true
}
pairs() { sort -u "$tmp/fits" | grep -c "^$1 "; }

case_begin 'a run replayed with its own number of readers, and with another one, takes what it took'
: >"$tmp/fits"
left=(even straggler many)
while [ ${#left[@]} != 0 ] && [ "$SECONDS" -lt 240 ]; do
    round
    again=()
    for shape in "${left[@]}"; do [ "$(pairs "$shape")" = 16 ] || again+=("$shape"); done
    left=("${again[@]}")
done
expect 'what never fitted' "${left[*]}" ''
[ ${#left[@]} = 0 ] || { cat "$tmp/others"; tail -n 5 "$tmp/executor.log"; }

case_begin 'a queue without a finished run has nothing to replay'
lockstep queue create "$(scratch_name)" -q --create-topic
none=$(sql "SELECT name FROM lockstep.queue ORDER BY queue_id DESC LIMIT 1")
lockstep queue advise "$none" >"$tmp/out" 2>&1 && failed=1
grep -q 'no run that could be replayed has ended' "$tmp/out" || { cat "$tmp/out"; failed=1; }
kill -TERM "$executor"
wait "$executor" || failed=1
cases_end
exit $failed
