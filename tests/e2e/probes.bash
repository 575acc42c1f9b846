# tests/e2e/probes.bash: the points of a task's life at which zombie.sh stops an executor and kill.sh kills one, and the
# work that leads past all of them. Sourced after tests/support/shell.bash and tests/e2e/ledger.bash.

# PROBE[@N][+HELP]: at the N-th time; HELP is the further work that leads the process there:
#   start  is at its start, so it leaves when it cannot continue
#   term   drains from its first wait at a gate on      lost   its control session is ended from outside
points="
start.enrolled+start receive.done claim.send claim.answered claim.answered@2 claim.answered@3
slot.take slot.taken execute.assign execute.assigned execute.assigned@4 mark.send mark.commit
reader.send@3 reader.flush@3 reader.sent@3 reader.answered reader.answered@3 record.take record.take@3
block.begun block.ran block.completed block.committed bare.run bare.ran step.begun step.done
fail.send fail.answered lose.send adopt.send adopt.answered adopt.taken
gate.open gate.wait gate.answered gate.answered@2 gate.opened gate.seen release.send release.done release.send@2
slot.return slot.cleared slot.returned finish.send+start heartbeat.send@3+start heartbeat.done@3+start
drain.begin+term return.send+term drain.returned+term incarnation.drained+term incarnation.lost+lost
"
# Besides, in zombie.sh: fence.send, of one that is about to end another.
# Retention, stops by operators, commands and requests have tests of their own.
points_elsewhere="late.ask cancel.send cancel.sent sweep.batch leave.send outside.begin outside.begun outside.record outside.recorded requests.read stop.ask stop.send stop.answered"

# Work that passes all points: short tasks, a block, SET, one that fails once, one that loses its session once, one of
# its own transactions (at least once: it goes into another table), long ones, one with steps.
point_tasks() {
    local q=$1 order=1 seq=0
    task() { printf '{"order": %d, "sql": "%s"%s}\n' "$order" "$1" "${2:-}"; seq=$((seq + 1)); }
    for _ in 1 2 3 4 5 6; do task "SELECT work('$q', $order, $seq, 0)"; done
    order=2
    task "DO \$\$BEGIN PERFORM work('$q', $order, $seq, 0); END\$\$"
    task "SET work_mem = '1MB'; SELECT work('$q', $order, $seq, 0)"
    # Meanwhile nothing of the phase is in hand: a gate waits.
    task "SELECT once('$q', 'fails'), work('$q', $order, $seq, 0)" ', "max_attempts": 2, "retry_intervals": [0.4]'
    task "INSERT INTO bare VALUES ('$q')" ', "transaction": false'
    order=3
    task "SELECT once('$q', 'dies'), work('$q', $order, $seq, 0)"
    for _ in 1 2 3; do task "SELECT work('$q', $order, $seq, 0.2)"; done
    order=4
    for _ in 1 2 3; do task "SELECT work('$q', $order, $seq, 0)"; done
    printf '{"order": 4, "steps": [{"name": "a", "sql": "SELECT 1"}, {"name": "b", "sql": "SELECT work('"'%s'"', 4, %d, 0)"}]}\n' \
        "$q" "$seq"
}
point_effects=17 # in the ledger

# once(): the first time in a queue it raises, or ends its own session; a sequence remembers it across the rollback.
points_create() {
    ledger_create
    sql <<'SQL'
CREATE TABLE bare (q text);
CREATE FUNCTION once(q text, what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF nextval(q || '_' || what) = 1 THEN
        IF what = 'fails' THEN RAISE EXCEPTION 'the first time'; END IF;
        PERFORM pg_terminate_backend(pg_backend_pid());
    END IF;
END $$
SQL
}

# point_run QUEUE NAME: queue and run
point_run() {
    sql "CREATE SEQUENCE \"$1_fails\"; CREATE SEQUENCE \"$1_dies\""
    lockstep queue create "$1" -q --create-topic --max-readers 3
    # The birthmark that the command has written is to be renewed: point mark.commit.
    sql "UPDATE lockstep.queue SET marked_at = marked_at - interval '2 hours' WHERE name = '$1'"
    point_tasks "$1" >"$tmp/$1.jsonl"
    lockstep publish --queue "$1" -q "$tmp/$1.jsonl" >/dev/null
}

# point_start POINT ACTION QUEUE: an executor in the background that comes to POINT; its pid in $pid
point_start() {
    local point=${1%+*} list
    list="${point%@*}=$2"
    [ "$point" = "${point%@*}" ] || list+="@${point#*@}"
    case $1 in *+term) list+=,gate.wait=term ;; esac
    mkdir -p "$tmp/$3.hit"
    LOCKSTEP_PROBE=$list LOCKSTEP_PROBE_DIR=$tmp/$3.hit LOCKSTEP_PROBE_LOG=$tmp/reached.$3 point_executor "$3" \
        "$LOCKSTEP_BIN-probed" --queue "$3"
    case $1 in *+lost) point_lose "$pid" "$3" ;; esac
}

# point_executor LOG BINARY OPTIONS...: T2 is $frozen_after, two seconds, and T1 is half of that
point_executor() {
    local log=$tmp/$1.log binary=$2
    shift 2
    LOCKSTEP_EXECUTOR_FROZEN_AFTER=${frozen_after:-2s} LOCKSTEP_EXECUTOR_HEARTBEAT=200ms \
        "$binary" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --readers 2 "$@" 2>>"$log" &
    pid=$!
}

point_lose() {
    eventually 10 grep -q 'event=executor_started' "$tmp/$2.log"
    eventually 10 is "SELECT count(pg_terminate_backend(s.pid))
        FROM lockstep.executor_session s JOIN lockstep.executor e USING (executor_no)
        WHERE e.pid = $1 AND s.kind = 'control'" 1
}

# Before these the task without a transaction has not been sent by that executor: it is done once.
points_before_bare="start.enrolled receive.done claim.send claim.answered slot.take slot.taken execute.assign execute.assigned
gate.wait drain.begin drain.returned incarnation.drained return.send finish.send bare.run"

# point_check QUEUE POINT: the errors of its effects and its run
point_check() {
    local wrong bare
    wrong=$(sql "SELECT 'the run is ' || status || ', not Completed: ' || COALESCE(error, '')
        FROM lockstep.run JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$1' AND run.status <> 'Completed'"
        # That one is not in the ledger.
        ledger_wrong "$1" 3 | grep -v -e '^a lock is left' -e '^task 9 of order 2 ' || true)
    [ "$(sql "SELECT count(*) FROM ledger WHERE q = '$1'")" = $point_effects ] ||
        wrong+=" effects: $(sql "SELECT count(*), count(DISTINCT seq) FROM ledger WHERE q = '$1'")"
    # At least once: twice when it was unknown what had been done.
    bare=$(sql "SELECT count(*) FROM bare WHERE q = '$1'")
    [ "$bare" = 1 ] || { [ "$bare" = 2 ] && [[ " $(echo $points_before_bare) " != *" ${2%%+*} "* ]]; } ||
        wrong+=" without a transaction: $bare effects"
    [ -z "$wrong" ] || printf '%s: %s\n' "$2" "$wrong"
}

# points_runs POINT...: a queue with its run for each, in $queues
points_runs() {
    local making=() i
    for _; do
        queues+=("$(scratch_name)")
        point_run "${queues[-1]}" 2>"$tmp/${queues[-1]}.making" &
        making+=($!)
        # Four at a time: each opens clients of the broker, which answers all of them or, on a loaded machine, none in
        # time.
        [ ${#making[@]} -lt 4 ] || wait "${making[-4]}" || true
    done
    for i in "${!making[@]}"; do
        wait "${making[i]}" || { echo "a run could not be published: $(cat "$tmp/${queues[i]}.making")"; exit 1; }
    done
}

# point_wrong QUEUE WORD...: a line about the point of this queue, for points_report
point_wrong() { echo "${@:2}" >>"$tmp/$1.wrong"; }

# points_report SENTENCE POINT...: a case for each point and its queue in $queues; POINT in the sentence is the point
points_report() {
    local i
    for i in "${!queues[@]}"; do case_of "${1//POINT/${*:i+2:1}}" "$tmp/${queues[i]}.wrong"; done
}

# points_hit POINT QUEUE: it has come there
points_hit() {
    local point=${1%+*}
    eventually 20 test -f "$tmp/$2.hit/${point%@*}.hit" ||
        point_wrong "$2" "$1: the executor did not come there: $(tail -n 5 "$tmp/$2.log")"
}

points_done() { is "SELECT count(*) FROM lockstep.run WHERE status <> 'Completed'" 0; }

# points_told POINT...: the reasons why runs did not end in time
points_told() {
    for i in "${!queues[@]}"; do
        [ "$(sql "SELECT count(*) FROM lockstep.run JOIN lockstep.queue q USING (queue_id)
            WHERE q.name = '${queues[i]}' AND run.status <> 'Completed'")" = 0 ] || {
            point_wrong "${queues[i]}" "${*:i+1:1}: its run has not ended"
            sql "SELECT 'phase ' || p.phase_id, p.opened_at IS NOT NULL, t.status, t.executor_no, e.ended_why, count(*)
                FROM lockstep.task t JOIN lockstep.phase p USING (phase_id)
                JOIN lockstep.queue q ON q.queue_id = p.queue_id LEFT JOIN lockstep.executor e USING (executor_no)
                WHERE q.name = '${queues[i]}' GROUP BY 1, 2, 3, 4, 5 ORDER BY 1"
            grep -h "${queues[i]}" "$tmp"/*.log | tail -n 5
        }
    done
    sql "SELECT e.executor_no, e.pid, kind, a.pid, a.state, a.wait_event, left(a.query, 60)
        FROM lockstep.executor_session s JOIN lockstep.executor e USING (executor_no)
        LEFT JOIN pg_stat_activity a ON a.pid = s.pid AND a.backend_start = s.backend_start"
}

# points_again QUEUE: its executor has started again
points_again() { incarnations "$tmp/$1.log" 2; }

# points_inherited ACTION POINT...: executors come to the points, all at once; another one finishes their runs. An
# executor that was stopped wakes then, and begins a new incarnation. The runs' queues are in $queues.
points_inherited() {
    local action=$1 i pid heir options=() pids=()
    shift
    points_runs "$@"
    for i in "${!queues[@]}"; do
        point_start "${@:i+1:1}" "$action" "${queues[i]}"
        pids+=("$pid") options+=(--queue "${queues[i]}")
    done
    for i in "${!queues[@]}"; do
        points_hit "${@:i+1:1}" "${queues[i]}"
        [ "$action" = stop ] || ! wait "${pids[i]}" ||
            point_wrong "${queues[i]}" "${*:i+1:1}: the executor was not killed"
    done
    point_executor heir "$LOCKSTEP_BIN" "${options[@]}" --readers 10
    heir=$pid
    eventually 30 points_done || points_told "$@"
    if [ "$action" = stop ]; then
        kill -CONT "${pids[@]}" || failed=1
        for i in "${!queues[@]}"; do
            eventually 15 points_again "${queues[i]}" ||
                point_wrong "${queues[i]}" "${*:i+1:1}: the executor did not start again"
        done
        kill -TERM "${pids[@]}"
        for i in "${!queues[@]}"; do
            wait "${pids[i]}" || point_wrong "${queues[i]}" "${*:i+1:1}: the executor ended with $?"
        done
    fi
    kill -TERM "$heir"
    ends_well "$heir" 'the heir'
}

# points_check POINT...: the promises, when all have ended
points_check() {
    sql 'ANALYZE'
    for i in "${!queues[@]}"; do
        [ "${*:i+1:1}" = fence.send ] || point_check "${queues[i]}" "${*:i+1:1}" >>"$tmp/${queues[i]}.wrong"
    done
    expect 'rows that are impossible' "$(sql "$(cat "$here/../support/impossible.sql")")" ''
    no_locks_left
}

# points_go: all points, some at a time
points_go() {
    local all from batch=${LOCKSTEP_TEST_BATCH:-20}
    read -ra all <<<"$(tr '\n' ' ' <<<"${LOCKSTEP_TEST_POINTS:-$points}")"
    for ((from = 0; from < ${#all[@]}; from += batch)); do
        go "${all[@]:from:batch}"
    done
    printf '%s points, %s seconds\n' "${#all[@]}" "$SECONDS"
}

# points_reached: every probe in the code of an executor is in the list, and each was come to
points_reached() {
    local root=$here/../.. probe
    sed -n 's/.*probe("\([a-z_.]*\)").*/\1/p' "$root"/executor/*.c "$root"/phaselock/*.c | sort -u >"$tmp/in_code"
    sort -u "$tmp"/reached.* >"$tmp/reached"
    tr ' ' '\n' <<<"$points fence.send $points_elsewhere" | sed 's/[@+].*//' | sort -u | sed '/^$/d' >"$tmp/listed"
    case_begin 'the list has all probes of the executor, and each was come to'
    expect 'probes that are in the code and not in the list' "$(comm -23 "$tmp/in_code" "$tmp/listed")" ''
    for probe in $(cat "$tmp/in_code"); do
        [[ " $points_elsewhere " = *" $probe "* ]] || grep -qxF "$probe" "$tmp/reached" ||
            wrong "no executor came to $probe"
        grep -qF "\`$probe\`" "$root/tests/probed/README.md" ||
            wrong "$probe is not described in tests/probed/README.md"
    done
}
