# tests/torture/judge.bash: finds violations and reports them. Sourced by run.sh. Each goes to $tmp/violations,
# once.

found_first() { [ -n "$first" ] && grep -qE "^($first)" "$tmp/violations"; }
bad() {
    [ -s "$tmp/found_after" ] || ! grep -qE "^(${first:-.})" <<<"$*" || echo $((SECONDS - began)) >"$tmp/found_after"
    grep -qxF -- "$*" "$tmp/violations" || echo "VIOLATION $*"
    grep -qxF -- "$*" "$tmp/violations" || echo "$*" >>"$tmp/violations"
}
bad_lines() { # PREFIX: from standard input
    local line
    while read -r line; do bad "$1$line"; done
}

look() { # FILE...: by SQL, in one snapshot
    local files=()
    for f; do files+=(-f "$here/$f"); done
    PGOPTIONS='-c default_transaction_isolation=repeatable\ read' "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -1 \
        -v ON_ERROR_STOP=1 -d "$db" "${files[@]}"
}
server_log() { tail -n +$((log_from + 1)) "$LOCKSTEP_TEST_HOME/postgres.log"; }
look_at_logs() {
    bad_lines 'task: ' < <(server_log | sed -n 's/^.*LOG:  torture-bad //p' | head -n 10)
    bad_lines 'server: ' < <(server_log | grep -E 'terminated by signal (11|6)|PANIC' | head -n 10)
    bad_lines 'log: ' < <(grep -ihE 'please report|internal error|sanitizer|runtime error:|assertion' \
        "$tmp"/executor.*.log "$tmp/publish.log" 2>/dev/null | head -n 10)
}
judge_always() { # in the background; it rests for ten times as long as it took
    local from
    while [ ! -e "$tmp/judged" ]; do
        from=$(now_ms)
        look always.sql >"$tmp/found.always" 2>/dev/null && bad_lines '' < <(head -n 10 "$tmp/found.always")
        look_at_logs
        sleep "$(awk -v ms=$(($(now_ms) - from)) 'BEGIN {print ms < 100 ? 1 : ms / 100}')"
    done
}
watch_locks() { # in the background
    while [ ! -e "$tmp/judged" ]; do
        "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$db" -f "$here/watch_locks.sql" >/dev/null 2>&1 || sleep 0.5
    done
}

# The end.
last=''
last_run() { # QUEUE: under a new id each time, one that was begun is not taken twice
    local run
    run=$(cat /proc/sys/kernel/random/uuid)
    printf '{"order": 1, "name": "0", "sql": "SELECT work('"'%s', '%s'"', 1, 0, 0)"}\n' "$1" "$run" >"$tmp/last.jsonl"
    lockstep publish --queue "$1" -q --run "$run" "$tmp/last.jsonl" >/dev/null 2>>"$tmp/publish.log" && last+=" '$run',"
}
last_runs() {
    local q
    for q in "$q1" "$q2" "$q3"; do
        eventually 30 last_run "$q" 2>/dev/null ||
            bad "$q: nothing can be published any more: $(tail -n 2 "$tmp/publish.log")"
    done
}
all_ended() {
    executors_look
    [ "$(sql "SELECT count(*) FILTER (WHERE ended_at IS NULL), count(*) FILTER (WHERE run_id::text IN (${last%,}))
        FROM lockstep.run" 2>/dev/null)" = "0|3" ] || found_first
}
finished() {
    sql "SELECT count(*) FROM lockstep.task WHERE status IN ('Completed', 'Failed', 'Cancelled')" 2>/dev/null
}
goes_on() { # for as long as something is finished every now and then
    local before=-1 now=0 until=$((SECONDS + 900))
    while now=$(finished) && [ "$now" != "$before" ] && [ $SECONDS -lt $until ]; do
        before=$now
        why_not="nothing was finished for $settle s"
        ! eventually "$settle" all_ended 2>/dev/null || return 0
    done
    [ -n "$now" ] || why_not='the database does not answer'
    [ "$now" = "$before" ] || why_not='it goes on for 15 minutes'
    return 1
}
not_ended() {
    bad "not everything comes to its end: $why_not: $(sql "SELECT string_agg(format('run %s of %s: %s', run_no, queue,
        status),
        ', '
        ORDER BY run_no)
        FROM lockstep.run_status WHERE ended_at IS NULL AND status NOT IN ('Publishing', 'Published')" 2>/dev/null)"
    {
        lockstep lock list || true
        sql "SELECT queue, run_id, status, tasks, pending, processing, error, completed, rejected, \"order\"
            FROM lockstep.run_status WHERE ended_at IS NULL" || true
        sql "SELECT name, next_offset, halted_reason FROM lockstep.queue" || true
        sql "SELECT t.task_id, t.phase_id, t.status, t.executor_no, t.attempt_num, t.scheduled_for, e.ended_at
            FROM lockstep.task t LEFT JOIN lockstep.executor e USING (executor_no)
            WHERE t.status NOT IN ('Completed', 'Failed', 'Cancelled') ORDER BY 1 LIMIT 30" || true
        sql "SELECT phase_id, run_no, \"order\", opened_at, done_at FROM lockstep.phase WHERE done_at IS NULL
            ORDER BY 1 LIMIT 20" || true
        sql "SELECT pid, application_name, backend_start, state, wait_event, query FROM pg_stat_activity
            WHERE datname = current_database()" || true
        tail -n 5 "$tmp"/executor.*.log
    } >"$tmp/hang.txt" 2>&1
    [ -n "$first" ] || head -n 60 "$tmp/hang.txt"
}

# Descriptors: an executor that lived through it has as many as a fresh one, but for its readers and gates (a socket and
# an eventfd each; gates are kept for the next runs, so there are as many as there once were runs at a time) and
# connections to Kafka: four handles, each with none to three of them. A handle that was left open has pipes, too.
fds() { # PID: eventfds, sockets, the rest
    find "/proc/$1/fd" -type l -printf '%l\n' 2>/dev/null |
        awk '/eventfd/ {e++; next} /^socket/ {s++; next} {o++} END {print e + 0, s + 0, o + 0}'
}
few_descriptors() { # I
    local e s o fresh_e fresh_s fresh_o
    read -r e s o < <(fds "${pid[$1]}")
    read -r fresh_e fresh_s fresh_o < <(fds "${pid[executors]}")
    fd_gates=$((e - fresh_e + executors - $1))
    fd_extra="gates $fd_gates, sockets $((s - fresh_s + executors - $1 - fd_gates)), others $((o - fresh_o))"
    [ $fd_gates -le 12 ] && [ $((s - fresh_s + executors - $1 - fd_gates)) -le 12 ] && [ $((o - fresh_o)) -le 4 ]
}
descriptors() {
    local i
    fd_report=''
    log[executors]=$tmp/executor.fresh.log
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$brokers" --queue "$q1" --queue "$q2" --queue "$q3" --queue "$q4" \
        --queue "$q5" --readers $((2 + executors)) >"${log[executors]}" 2>&1 &
    pid[executors]=$!
    eventually 20 grep -q executor_started "${log[executors]}" 2>/dev/null || bad 'a fresh executor does not start'
    for ((i = 0; i < executors; i++)); do
        # a closed handle of librdkafka, and the one that was frozen, need a moment
        eventually 20 few_descriptors $i 2>/dev/null ||
            bad "executor $i has more descriptors than a fresh one: $fd_extra"
        fd_report+=" $i: $fd_extra;"
    done
}

judge_end() {
    local q
    on_topic() {
        timeout 30 kcat -C -b "$LOCKSTEP_TEST_BROKERS" -t "$1" -o beginning -e -q -X isolation.level=read_committed \
            -f "$1,%o\n"
    }
    for q in "$q1" "$q2" "$q3" "$q5"; do on_topic "$q"; done >"$tmp/on_topic.csv" || bad 'the topic cannot be read'
    { server_log | sed -n 's/^.*LOG:  torture-begin //p' && cat "$tmp/outside.log"; } >"$tmp/history"
    server_log | sed -n 's/^\(.*\) UTC \[.*LOG:  database system is ready to accept connections.*/\1/p' >"$tmp/restarts"
    awk '{
            n = split(FILENAME, p, ".")
            e = $3
            sub(/^event=/, "", e)
            gsub(/\\/, "\\\\")
            gsub(/\t/, " ")
            print p[n - 1] "\t" FNR "\t" e "\t" $0
        }' \
        "$tmp"/executor.[0-9]*.log | iconv -c -t UTF-8 >"$tmp/said"
    sql 'CREATE TABLE on_topic (q text, o bigint);
         CREATE TABLE published (q text, run uuid, tasks int, status int, killed text, way text);
         CREATE TABLE history (at timestamptz, q text, run uuid, ord bigint, n int, kind text);
         CREATE TABLE restarts (at timestamptz);
         CREATE TABLE said (file int, no int, event text, line text);
         CREATE TABLE suspects (pid int, from_at timestamptz, until_at timestamptz)'
    sql '\copy on_topic FROM STDIN CSV' <"$tmp/on_topic.csv"
    sql "\\copy published FROM STDIN WITH (DELIMITER ' ')" <"$tmp/published"
    sql "\\copy history FROM STDIN WITH (DELIMITER ' ')" <"$tmp/history"
    sql '\copy restarts FROM STDIN' <"$tmp/restarts"
    sql '\copy said FROM STDIN' <"$tmp/said"
    sql "\\copy suspects FROM STDIN WITH (DELIMITER ' ')" <"$tmp/suspects"
    sql 'CREATE INDEX ON history (q, run, ord); ANALYZE'
    sessions_ended() {
        [ "$(sql "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'lockstep/%'")" = 0 ]
    }
    eventually 9 sessions_ended 2>/dev/null || true
    look always.sql end.sql >"$tmp/found" 2>"$tmp/found.err" || bad "the checker failed: $(tail -n 1 "$tmp/found.err")"
    bad_lines '' < <(head -n 40 "$tmp/found")
    look_at_logs
    bad_lines 'core: ' < <(find "$tmp" -maxdepth 1 -name 'core*')
    bad_lines 'publisher: ' < <(awk '($5 != "yes" && $4 > 8) || $4 == 70' "$tmp/published")
    [ "$(sql 'SELECT last_value > 10 FROM looks_at_locks')" = t ] || bad 'nobody looked at the locks'
}

report() {
    local total=0 fault violations tasks
    for fault in $(printf '%s\n' "${!counts[@]}" | sort); do
        printf '%6d  %s\n' "${counts[$fault]}" "$fault"
        total=$((total + counts[$fault]))
    done
    fault=$(grep -c ' yes ' "$tmp/published" || true)
    printf '%6d  kill_publisher\n' "$fault"
    total=$((total + fault))
    sql "SELECT format('torture: %s runs (%s), %s tasks, %s attempts lost, %s failed, %s looks at the locks',
                       (SELECT count(*) FROM lockstep.run),
         (SELECT string_agg(n || ' ' || status, ', ' ORDER BY status)
          FROM (SELECT status, count(*) AS n FROM lockstep.run GROUP BY 1) s),
         count(*), sum(lost_num), count(*) FILTER (WHERE status = 'Failed'), (SELECT last_value FROM looks_at_locks))
        FROM lockstep.task" || true
    [ -z "${fd_report:-}" ] || echo "torture: descriptors more than a fresh executor's:$fd_report"
    [ ! -s "$tmp/found_after" ] || echo "torture: the first violation was found after $(cat "$tmp/found_after") s"
    violations=$(wc -l <"$tmp/violations")
    if [ "$violations" != 0 ] && [ -z "$first" ]; then
        kept=$tmp
        cp "$LOCKSTEP_TEST_HOME/postgres.log" "$tmp/" 2>/dev/null || true
        "$LOCKSTEP_TEST_PGBIN/pg_dump" -d "$db" >"$tmp/dump.sql" 2>/dev/null || true
        echo "torture: again: ./dev torture --seconds $seconds --seed $seed; the logs and the database are in $tmp"
    fi
    echo "torture: seed $seed: $total faults in $((faults_ended - began)) s, $executors_started executors," \
        "$violations violations"
    [ "$violations" = 0 ] || exit 1
    tasks=$(completed)
    [ "$tasks" -ge 100 ] || { echo "torture: but only $tasks tasks were completed: that proves nothing" && exit 3; }
}
