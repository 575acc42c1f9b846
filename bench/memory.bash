# memory: a backlog of two million records (a tenth of it with --quick), published as a stream, and an executor that
# works on it for 60 s (8 s). Peak memory is VmHWM; flat is how much VmRSS grew after the first quarter of the time.

workload_memory() {
    local backlog=2000000 seconds=60 peak='' rss samples=() i pid done
    if [ "$quick" = true ]; then
        backlog=200000
        seconds=8
    fi
    backlog=${BENCH_BACKLOG:-$backlog}
    new_queue 16
    insert_tasks "$q" 10 $((backlog / 10)) >"$tmp/work.jsonl"
    # Not the function: the process that is measured must be lockstep itself.
    "$LOCKSTEP_BIN" publish -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --stream -q - \
        <"$tmp/work.jsonl" >/dev/null &
    pid=$!
    while read -r rss _ < <(memory "$pid") && [ -n "$rss" ]; do
        peak=$rss
        sleep 0.1
    done
    wait "$pid" || fail 'publish --stream failed'
    figure memory "publish --stream of $backlog: peak" MB '<= 50' "$peak"

    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 16 2>"$tmp/$q.log" &
    pid=$!
    for ((i = 0; i < seconds * 2; i++)); do
        sleep 0.5
        read -r peak rss < <(memory "$pid") || fail "the executor ended: $(cat "$tmp/$q.log")"
        samples+=("$rss")
    done
    kill -TERM "$pid"
    wait "$pid" || fail "the executor did not end well: $(cat "$tmp/$q.log")"
    done=$(sql "SELECT count(*) FROM lockstep.task WHERE status = 'Completed'")
    [ "$done" -gt 0 ] && [ "$done" -lt "$backlog" ] || fail "$done of $backlog done: this was no work on a backlog"
    check 16
    figure memory "executor, $done done: peak" MB '<= 64' "$peak"
    figure memory 'executor: growth after warming up' MB '<= 5' \
        "$(awk -v a="${samples[seconds / 2]}" -v b="${samples[-1]}" 'BEGIN { print b - a }')"
}
