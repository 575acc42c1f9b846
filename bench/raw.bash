# raw: lockstep publish of a million tasks against librdkafka alone (bench/raw.c), which publishes the very records that
# Lockstep made, in one transaction, with the same settings: with a call for each record, as programs do, and in
# batches, as publish does. All counted over the whole process, starting and connecting included; a first round, which
# finds a cold broker, is not counted; each begins when the disk has what the one before it wrote. Takes 4 GB of disk.
# The reading of the topic by librdkafka alone is told as what no executor can exceed.

# raw_seconds MODE: of a process that publishes the records.
raw_seconds() {
    local topic start
    topic=$(scratch_name)
    lockstep queue create "$topic" -q --create-topic >/dev/null || return
    sync
    start=$(now)
    "$build/bench_raw" "$1" "$LOCKSTEP_TEST_BROKERS" "$topic" "$tmp/records" >/dev/null || return
    since "$start"
}

# raw_publish: into $our, of $tmp/work.jsonl, on a new queue $q.
raw_publish() {
    local start
    new_queue 4
    sync
    start=$(now)
    lockstep publish --queue "$q" -q "$tmp/work.jsonl" >/dev/null
    our=$(since "$start")
}

workload_raw() {
    local count=1000000 took=() ours=() refs=() ratios=() batch_ratios=() reads=() i our ref batches
    new_queue 4
    insert_tasks "$q" 1 "$count" >"$tmp/work.jsonl"
    raw_publish
    kcat -C -q -e -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -X isolation.level=read_committed -X enable.auto.commit=false \
        -c "$count" \
        >"$tmp/records"
    [ "$(wc -l <"$tmp/records")" = "$count" ] || fail 'the records of the topic are not one a task'
    for ((i = -1; i < rounds; i++)); do
        ((i % 2)) || raw_publish # first or last, in turns
        ref=$(raw_seconds produce)
        batches=$(raw_seconds produce-batches)
        ((i % 2 == 0)) || raw_publish
        [ "$i" -ge 0 ] || continue
        reads+=("$(ratio "$count" "$("$build/bench_raw" consume "$LOCKSTEP_TEST_BROKERS" "$q" "$count")")")
        took+=("$our")
        ours+=("$(ratio "$count" "$our")")
        refs+=("$(ratio "$count" "$ref")")
        batch_ratios+=("$(ratio "$batches" "$our")")
        ratios+=("$(ratio "$ref" "$our")")
    done
    figure raw 'publish of a million tasks' s '<= 4' "${took[@]}"
    figure raw 'publish' records/s '' "${ours[@]}"
    figure raw 'reference: librdkafka produces' records/s '' "${refs[@]}"
    figure raw 'publish / reference' ratio '>= 0.8' "${ratios[@]}"
    figure raw 'publish / librdkafka in batches' ratio '' "${batch_ratios[@]}"
    figure raw 'librdkafka reads the topic' records/s '' "${reads[@]}"
}
