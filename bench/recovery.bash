# recovery: an executor is killed (kill -9) in the middle of a phase; how long until all that it ran is running
# elsewhere. The other executor serves the same queue and idles beside it, as in a cluster of two.

workload_recovery() {
    local kills=50 n i victim heir killed times=()
    [ "$quick" = false ] || kills=10
    sql "CREATE TABLE let_go (n int);
         CREATE FUNCTION hold(n int, q text, seq int) RETURNS void LANGUAGE plpgsql AS \$\$
         DECLARE started timestamptz := clock_timestamp();
         BEGIN
             WHILE NOT EXISTS (SELECT FROM let_go l WHERE l.n = hold.n) LOOP PERFORM pg_sleep(0.005); END LOOP;
             INSERT INTO ledger VALUES (q, hold.n, seq, started, clock_timestamp());
         END \$\$"
    new_queue 4
    recovery_daemon heir
    heir=$pid
    for ((n = 1; n <= kills; n++)); do
        kill -USR1 "$heir" # it leaves what comes to the other one
        eventually 10 recovery_said heir claims_paused "$n"
        recovery_daemon "victim.$n"
        victim=$pid
        for ((i = 0; i < 4; i++)); do
            echo "{\"order\": $n, \"sql\": \"SELECT hold($n, '$q', $i)\"}"
        done >"$tmp/work.jsonl"
        run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
        eventually 20 recovery_runs "$victim" 4
        kill -9 "$victim"
        killed=$(now)
        wait "$victim" 2>/dev/null || true
        # Waited for in the server: a client that asks every few milliseconds would take the processor from those who
        # recover.
        sql "DO \$\$BEGIN
                WHILE ($(recovery_running "$heir")) < 4 LOOP
                    PERFORM pg_sleep(0.005);
                    PERFORM pg_stat_clear_snapshot();
                END LOOP;
            END\$\$"
        times+=("$(awk -v s="$(since "$killed")" 'BEGIN { print s * 1000 }')")
        sql "INSERT INTO let_go VALUES ($n)"
        kill -USR2 "$heir"
        eventually 20 run_is_over
    done
    kill -TERM "$heir"
    wait "$heir" || fail "the heir did not end well: $(tail -n 20 "$tmp/$q.heir.log")"
    [ "$(sql "SELECT count(*), count(DISTINCT (ord, seq)) FROM ledger")" = "$((kills * 4))|$((kills * 4))" ] ||
        fail "effects: $(sql "SELECT count(*), count(DISTINCT (ord, seq)) FROM ledger")"
    checked=$((checked + 1))
    figure recovery 'kill -9, all runs elsewhere' ms '' "${times[@]}"
    figure recovery 'the same, p99' ms '<= 2000' "$(printf '%s\n' "${times[@]}" | sort -g |
        awk '{ v[NR] = $1 } END { i = int(NR * 0.99 + 0.999); print v[i < 1 ? 1 : i] }')"
}

# recovery_daemon NAME: an executor in the background, its pid in $pid
recovery_daemon() {
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 4 2>"$tmp/$q.$1.log" &
    pid=$!
    eventually 20 recovery_said "$1" executor_started
}
# recovery_said NAME EVENT [TIMES]
recovery_said() { [ "$(cat "$tmp/$q.$1.log" 2>/dev/null | grep -c "event=$2")" -ge "${3:-1}" ]; }
recovery_running() {
    echo "SELECT count(*)
        FROM pg_stat_activity a JOIN lockstep.executor_session s ON s.pid = a.pid AND s.backend_start = a.backend_start
        JOIN lockstep.executor e USING (executor_no)
        WHERE e.pid = $1 AND a.query LIKE 'SELECT hold(%' AND a.state = 'active'"
}
recovery_runs() { [ "$(sql "$(recovery_running "$1")")" = "$2" ]; }
