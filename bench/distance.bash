# distance: the barrier over a long network: 100 phases of 20 INSERTs (30 with --quick), 4 readers, one executor whose
# sessions go through bench_distance, with round trips of 0, 1, 5 and 20 ms. Reference: the round trip itself.

workload_distance() {
    local rtt i b phases=100 port pid p50 times
    [ "$quick" = false ] || phases=30
    for rtt in 0 1 5 20; do
        p50=() times=()
        rm -f "$tmp/distance"
        "$build/bench_distance" "$(sed -n 's/.* port=\([0-9]*\) .*/\1/p' <<<"$LOCKSTEP_TEST_PG")" $((rtt * 1000)) \
            >"$tmp/distance" &
        pid=$!
        eventually 10 test -s "$tmp/distance"
        port=$(cat "$tmp/distance")
        for ((i = 0; i < rounds; i++)); do
            new_queue 4
            insert_tasks "$q" $phases 20 params >"$tmp/work.jsonl"
            run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
            "$LOCKSTEP_BIN" executor run -d "host=127.0.0.1 port=$port user=lockstep_test dbname=${db##*dbname=}" \
                -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 4 --until-idle 2>"$tmp/$q.log" ||
                fail "$(cat "$tmp/$q.log")"
            check 4
            read -r -a b < <(barriers)
            p50+=("${b[0]}")
            times+=("$(ratio "${b[0]}" "$rtt")")
        done
        kill "$pid"
        wait "$pid" 2>/dev/null || true
        figure distance "round trip $rtt ms: barrier p50" ms '' "${p50[@]}"
        [ $rtt = 0 ] || figure distance "round trip $rtt ms: barrier p50 / round trip" ratio '' "${times[@]}"
    done
}
