# tests/torture/nemesis.bash: the faults. Sourced by run.sh, called in its main shell: $RANDOM there is a function of the seed.
# Executors are $pid[i], their logs $log[i]; who is to leave or was killed is in $leaving, so nobody waits for it here.

declare -a pid log fds
declare -A leaving counts
executors_started=0
thawed=0 # when the last frozen one goes on
bad() { echo "VIOLATION $*" | tee -a "$tmp/violations"; }
alive() { grep -qs '^State:.[^ZX]' "/proc/$1/status"; }

executor_start() { # I
    executors_started=$((executors_started + 1))
    log[$1]=$tmp/executor.$executors_started.log
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q1" --queue "$q2" --readers "$((2 + $1))" >"${log[$1]}" 2>&1 &
    pid[$1]=$! fds[$1]=''
}

# Who ended by itself: before it was started, for want of a server, it may; after that it must not.
executors_look() {
    local i status
    for i in "${!pid[@]}"; do
        if alive "${pid[$i]}"; then
            [ -n "${fds[$i]}" ] || ! grep -qs executor_started "${log[$i]}" || fds[$i]=$(find "/proc/${pid[$i]}/fd" 2>/dev/null | wc -l) || fds[$i]=''
            continue
        fi
        status=0
        wait "${pid[$i]}" || status=$?
        case $status in
        3 | 4) grep -q executor_started "${log[$i]}" && bad "executor $i ended with $status: $(tail -n 1 "${log[$i]}")" ;;
        *) bad "executor $i ended by itself with $status: $(tail -n 3 "${log[$i]}")" ;;
        esac
        executor_start "$i"
    done
}

# An executor's sockets and eventfds may vary by its gates; a leak grows with its incarnations.
executor_fds() { # I
    local now
    now=$(find "/proc/${pid[$1]}/fd" 2>/dev/null | wc -l) || return 0
    [ -z "${fds[$1]}" ] || [ "$now" -le $((fds[$1] + 32)) ] || bad "executor $1 had ${fds[$1]} descriptors and has $now"
    fd_report+=" ${fds[$1]:-?}->$now"
}

# At the end of the run, each that was told to leave: did it, and how?
leavers_look() {
    local p status until=$((SECONDS + 30))
    for p in "${!leaving[@]}"; do
        while alive "$p" && [ $SECONDS -lt $until ]; do sleep 0.1; done
        if alive "$p"; then
            bad "executor $p was told to stop and does not: $(tail -n 3 "${leaving[$p]}")"
            kill -KILL "$p"
            continue
        fi
        status=0
        wait "$p" || status=$?
        [ $status = 0 ] || ! grep -q executor_started "${leaving[$p]}" || bad "executor $p was told to stop and ended with $status: $(tail -n 3 "${leaving[$p]}")"
    done
    leaving=()
}

as_owner() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid "$(stat -c %u "$data")" --regid "$(stat -c %g "$data")" --clear-groups "$@"
    else
        "$@"
    fi
}
later() { # SECONDS COMMAND...: in the background
    (sleep "$1" && shift && "$@" 2>/dev/null) &
}

kill_executor() {
    local i=$((RANDOM % ${#pid[@]}))
    kill -KILL "${pid[$i]}"
    wait "${pid[$i]}" 2>/dev/null
    executor_start "$i"
}
freeze_executor() {
    local i=$((RANDOM % ${#pid[@]}))
    kill -STOP "${pid[$i]}"
    later "$((RANDOM % 2)).$((2 + RANDOM % 8))" kill -CONT "${pid[$i]}"
}
freeze_long() { # longer than the others wait before they fence it
    local i=$((RANDOM % ${#pid[@]}))
    kill -STOP "${pid[$i]}"
    later "1$((1 + RANDOM % 3)).$((RANDOM % 10))" kill -CONT "${pid[$i]}"
    thawed=$((SECONDS + 15))
}
term_executor() {
    local i=$((RANDOM % ${#pid[@]}))
    kill -TERM "${pid[$i]}"
    leaving[${pid[$i]}]=${log[$i]}
    executor_start "$i"
}
# session FUNCTION KIND: of a random session of that kind
session() {
    sql "SELECT $1(pid) FROM pg_stat_activity WHERE application_name LIKE 'lockstep/$2%' ORDER BY backend_start, pid
         OFFSET $RANDOM % GREATEST(1, (SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'lockstep/$2%')) LIMIT 1" >/dev/null 2>&1
}
terminate_control() { session pg_terminate_backend control; }
terminate_gate() { session pg_terminate_backend gate; }
terminate_liveness() { session pg_terminate_backend liveness; }
terminate_reader() { session pg_terminate_backend reader; }
terminate_producer() { session pg_terminate_backend producer; }
cancel_control() { session pg_cancel_backend control; }
cancel_gate() { session pg_cancel_backend gate; }
cancel_liveness() { session pg_cancel_backend liveness; }
cancel_reader() { session pg_cancel_backend reader; }
kill_backend() { # the server restarts itself
    local p
    p=$(sql "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'lockstep/reader%' LIMIT 1" 2>/dev/null)
    [ -z "$p" ] || kill -KILL "$p"
}
make_zombie() { # an executor dies while the server still works for it, and stands still long enough for its work to be adopted
    local i=$((RANDOM % ${#pid[@]})) p='' try
    for try in {1..20}; do # until it has a task in hand
        p=$(sql "SELECT s.pid FROM lockstep.slot s JOIN lockstep.executor e USING (executor_no) JOIN pg_stat_activity a ON a.pid = s.pid
             WHERE e.pid = ${pid[$i]} AND e.ended_at IS NULL AND a.wait_event = 'PgSleep' LIMIT 1" 2>/dev/null)
        [ -z "$p" ] || break
        sleep 0.05
    done
    [ -z "$p" ] || kill -STOP "$p"
    kill -KILL "${pid[$i]}"
    wait "${pid[$i]}" 2>/dev/null
    [ -z "$p" ] || later "2.$((RANDOM % 10))" kill -CONT "$p"
    executor_start "$i"
}
postgres_start() {
    as_owner "$LOCKSTEP_TEST_PGBIN/pg_ctl" -D "$data" -w -t 30 -l "$LOCKSTEP_TEST_HOME/postgres.log" start >/dev/null </dev/null || bad 'PostgreSQL does not start again'
    sed -i "s/^LOCKSTEP_TEST_PG_PID=.*/LOCKSTEP_TEST_PG_PID=$(head -n 1 "$data/postmaster.pid")/" "$servers/env"
}
crash_postgres() {
    as_owner "$LOCKSTEP_TEST_PGBIN/pg_ctl" -D "$data" -m immediate -w stop >/dev/null
    sleep "$((1 + RANDOM % 2)).$((RANDOM % 10))"
    postgres_start
}
broker_pid() { sed -n 's/^LOCKSTEP_TEST_KAFKA_PID=//p' "$servers/env"; }
freeze_broker() {
    local p
    p=$(broker_pid)
    kill -STOP "$p"
    later "$((1 + RANDOM % 2)).$((RANDOM % 10))" kill -CONT "$p"
}
broker_start() { # what ran, once more, over the same data
    setsid "${broker[@]}" </dev/null >>"$tmp/broker.log" 2>&1 &
    sed -i "s/^LOCKSTEP_TEST_KAFKA_PID=.*/LOCKSTEP_TEST_KAFKA_PID=$!/" "$servers/env"
    disown $!
}
kill_broker() {
    kill -KILL "$(broker_pid)"
    sleep "$((RANDOM % 2)).$((RANDOM % 10))"
    broker_start
}

# name and how many of it are in the deck; the deck is dealt to its end and shuffled again
faults=(kill_executor 3 make_zombie 3 freeze_executor 3 term_executor 2 terminate_control 2 terminate_gate 2 terminate_liveness 2 terminate_reader 3
    terminate_producer 1 cancel_control 2 cancel_gate 2 cancel_liveness 1 cancel_reader 2 kill_backend 1 crash_postgres 1 freeze_broker 2 kill_broker 1)
deck=()
deal() { # the next fault, in $fault
    local i j
    if [ ${#deck[@]} = 0 ]; then
        for ((i = 0; i < ${#faults[@]}; i += 2)); do
            for ((j = 0; j < faults[i + 1]; j++)); do deck+=("${faults[i]}"); done
        done
    fi
    i=$((RANDOM % ${#deck[@]}))
    fault=${deck[i]}
    deck[i]=${deck[-1]}
    unset 'deck[-1]'
}

completed() { sql "SELECT count(*) FROM lockstep.task WHERE status = 'Completed'" 2>/dev/null || echo 0; }
# Two of three times until thirty more tasks are through, but not for ever; else the next fault meets the last one.
breathe() {
    local until=$((SECONDS + 5)) goal
    sleep "0.$((RANDOM % 6))"
    [ $((RANDOM % 3)) != 0 ] || return 0
    goal=$(($(completed) + 30))
    while [ $SECONDS -lt $until ] && [ "$(completed)" -lt $goal ]; do
        executors_look
        sleep 0.1
    done
}

# nemesis SECONDS
nemesis() {
    local until=$((SECONDS + $1)) fault
    [ "$1" -lt 60 ] || faults+=(freeze_long 1)
    [ -z "$only" ] || read -ra faults <<<"$only"
    while [ $SECONDS -lt $until ]; do
        breathe
        executors_look
        deal
        counts[$fault]=$((${counts[$fault]:-0} + 1))
        echo "$(date +%T.%3N) $fault" >>"$tmp/nemesis.log"
        "$fault" || true
    done
}
