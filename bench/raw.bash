# raw: lockstep publish of 200,000 tasks against librdkafka alone (bench/raw.c), which publishes the very records that Lockstep
# made, in one transaction, with the same settings. Both counted over the whole process, starting and connecting included; a first
# round, which finds a cold broker, is not counted. The reading of the topic by librdkafka alone is told as what no executor can exceed.

workload_raw() {
    local count=200000 ours=() refs=() ratios=() reads=() i start our ref topic
    for ((i = -1; i < rounds; i++)); do
        new_queue 4
        insert_tasks "$q" 1 "$count" >"$tmp/work.jsonl"
        start=$(now)
        lockstep publish --queue "$q" -q "$tmp/work.jsonl" >/dev/null
        our=$(since "$start")
        [ -s "$tmp/records" ] || kcat -C -q -e -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -X isolation.level=read_committed \
            -X enable.auto.commit=false -c "$count" >"$tmp/records"
        [ "$(wc -l <"$tmp/records")" = "$count" ] || fail 'the records of the topic are not one a task'
        topic=$(scratch_name)
        lockstep queue create "$topic" -q --create-topic >/dev/null
        start=$(now)
        "$build/bench_raw" produce "$LOCKSTEP_TEST_BROKERS" "$topic" "$tmp/records" >/dev/null
        ref=$(since "$start")
        [ "$i" -ge 0 ] || continue
        reads+=("$(ratio "$count" "$("$build/bench_raw" consume "$LOCKSTEP_TEST_BROKERS" "$q" "$count")")")
        ours+=("$(ratio "$count" "$our")")
        refs+=("$(ratio "$count" "$ref")")
        ratios+=("$(ratio "$ref" "$our")")
    done
    figure raw 'publish' records/s '' "${ours[@]}"
    figure raw 'reference: librdkafka produces' records/s '' "${refs[@]}"
    figure raw 'publish / reference' ratio '>= 0.8' "${ratios[@]}"
    figure raw 'librdkafka reads the topic' records/s '' "${reads[@]}"
}
