# tests/torture/nemesis.bash: the faults. Sourced by run.sh, called in its main shell: $RANDOM there is a function of
# the seed. Executors are $pid[i], their logs $log[i]; one that gets SIGTERM or was killed is in $leaving, so no one
# waits for it here. $tmp/suspects: when which of them stood still or was cut off, so that others may take it for
# frozen.

declare -a pid log
declare -A leaving counts
executors=4
executors_started=0
thawed=0 # when the last frozen one continues, the last cut is healed
# A child of ours: a number may belong to another process by now, also to a thread of another child, which has
# the same parent.
alive() {
    grep -qs "^PPid:[[:space:]]*$$\$" "/proc/$1/status" && grep -qs "^Tgid:[[:space:]]*$1\$" "/proc/$1/status" &&
        grep -qs '^State:.[^ZX]' "/proc/$1/status"
}
order() { echo "$*" >"$tmp/network"; } # to the proxy
pick() { i=$((RANDOM % executors)); }

# Every other one gets a clock that can be set; only the real-time clock, as on a machine whose clock is set.
executor_start() { # I
    local i=$1
    executors_started=$((executors_started + 1))
    log[i]=$tmp/executor.$executors_started.log
    (
        if [ $((i % 2)) = 1 ]; then
            export LOCKSTEP_TORTURE_CLOCK=$tmp/clock.$i LD_PRELOAD=$clock
        fi
        exec "$LOCKSTEP_BIN" executor run -d "$(via "executor$i")" -b "$brokers" --queue "$q1" --queue "$q2" \
            --queue "$q3" --queue "$q4" --queue "$q5" --readers "$((2 + i))" >"${log[i]}" 2>&1
    ) &
    pid[i]=$!
    unset "leaving[$!]" # that one has ended: its number was free
}

# Who ended by itself: before it was started, for want of a server, it may; after that it must not.
executors_look() {
    local i status
    for i in "${!pid[@]}"; do
        ! alive "${pid[i]}" || continue
        status=0
        wait "${pid[i]}" || status=$?
        case $status in
        3 | 4 | 6)
            grep -q executor_started "${log[i]}" && bad "executor $i ended with $status: $(tail -n 1 "${log[i]}")"
            ;;
        *) bad "executor $i ended by itself with $status: $(tail -n 3 "${log[i]}")" ;;
        esac
        executor_start "$i"
    done
}

# At the end of the run, each that got SIGTERM: did it, and how?
stacks() { # PID: the stack of each of its threads, for a reader of the logs
    gdb -p "$1" -batch -ex 'set pagination off' -ex 'thread apply all backtrace' >"$tmp/stacks.$1" 2>&1 ||
        grep -H . "/proc/$1/task/"*/{comm,wchan,syscall} >"$tmp/stacks.$1" 2>&1 || true
}
leavers_look() {
    local p status until=$((SECONDS + 30))
    for p in "${!leaving[@]}"; do
        while alive "$p" && [ $SECONDS -lt $until ]; do sleep 0.1; done
        if alive "$p"; then
            bad "executor $p was told to stop and does not: $(tail -n 3 "${leaving[$p]}")"
            stacks "$p"
            kill -KILL "$p"
            continue
        fi
        status=0
        wait "$p" || status=$?
        # The shell has forgotten it; its log has not.
        [ $status != 127 ] || ! grep -q executor_stopped "${leaving[$p]}" || status=0
        [ $status = 0 ] || ! grep -q executor_started "${leaving[$p]}" ||
            bad "executor $p was told to stop and ended with $status: $(tail -n 1 "${leaving[$p]}")"
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
until_thawed() { # SECONDS: until then the remaining rows are not judged
    [ $((SECONDS + $1)) -lt $thawed ] || thawed=$((SECONDS + $1))
}
stands_still() { # SECONDS: executor $i
    echo "${pid[i]} $(date -u +%FT%T.%3N) $(date -u +%FT%T.%3N \
        -d "@$(awk -v now="$(date +%s.%3N)" -v s="$1" 'BEGIN {printf "%.3f", now + s}')")" >>"$tmp/suspects"
    until_thawed $((${1%.*} + 2))
}

# Processes.
kill_executor() {
    local i
    pick
    kill -KILL "${pid[i]}"
    wait "${pid[i]}" 2>/dev/null
    executor_start "$i"
}
kill_dispatcher() { # the one that has the lock of dispatch
    local i number
    number=$(sql "SELECT substring(dispatcher FROM 'pid ([0-9]+)') FROM lockstep.occurrence
        ORDER BY occurrence_id DESC LIMIT 1" 2>/dev/null) || return 0
    for i in "${!pid[@]}"; do
        [ "${pid[i]}" = "$number" ] || continue
        kill -KILL "$number"
        wait "$number" 2>/dev/null
        executor_start "$i"
    done
}
freeze() { # SECONDS: executor $i stands still
    stands_still "$1"
    kill -STOP "${pid[i]}"
    later "$1" kill -CONT "${pid[i]}"
}
freeze_executor() {
    local i
    pick
    freeze "$((RANDOM % 2)).$((2 + RANDOM % 8))"
}
freeze_long() { # longer than the others wait before they fence it
    local i
    pick
    freeze "1$((1 + RANDOM % 3)).$((RANDOM % 10))"
}
term_executor() {
    local i
    pick
    kill -TERM "${pid[i]}"
    leaving[${pid[i]}]=${log[i]}
    executor_start "$i"
}
clock_by() { # I SECONDS: the clock of executor I is wrong by so much
    perl -e 'print pack("q", shift)' -- "$2" | dd of="$tmp/clock.$1" conv=notrunc status=none
}
set_clock() { # by up to nine hours, either way, or right again
    clock_by $((RANDOM % (executors / 2) * 2 + 1)) $(((RANDOM % 3 - 1) * (1 + RANDOM)))
}

# Sessions.
session() { # FUNCTION KIND: of a random session of that kind
    sql "SELECT $1(pid) FROM pg_stat_activity WHERE application_name LIKE 'lockstep/$2%' ORDER BY backend_start, pid
         OFFSET $RANDOM % GREATEST(1,
                                   (SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'lockstep/$2%'))
         LIMIT 1" >/dev/null 2>&1
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
# busy_reader TIMES: the backend of executor $i in which a task sleeps, in $p, and its client's port; looked for so many
# times.
busy_reader() {
    local try
    p='' port=''
    for ((try = 0; try < $1; try++)); do
        IFS='|' read -r p port < <(sql "SELECT s.pid, a.client_port
             FROM lockstep.slot s JOIN lockstep.executor e USING (executor_no) JOIN pg_stat_activity a ON a.pid = s.pid
             WHERE e.pid = ${pid[i]} AND e.ended_at IS NULL AND a.wait_event = 'PgSleep' LIMIT 1" 2>/dev/null) || true
        [ -z "$p" ] || return 0
        sleep 0.05
    done
    return 1
}
# make_zombie an executor dies while the server still works for it, and stands still long enough for its work to be
# adopted
make_zombie() {
    local i p
    pick
    busy_reader 20 && kill -STOP "$p"
    kill -KILL "${pid[i]}"
    wait "${pid[i]}" 2>/dev/null
    # Before or after the server looks for its client.
    [ -z "$p" ] || later "$((RANDOM % 3)).$((5 + RANDOM % 5))" kill -CONT "$p"
    executor_start "$i"
}
lose_reader() { # its connection breaks in the middle of a task, and the server learns it late: the backend stands still
    local i p
    pick
    busy_reader 20 && kill -STOP "$p"
    [ -z "$p" ] || order "executor$i" reset "$port"
    # A second: when the server looks for its client.
    [ -z "$p" ] || later "$((RANDOM % 2)).$((3 + RANDOM % 6))" kill -CONT "$p"
}

# The network.
slow_network() {
    local i
    pick
    order "executor$i" slow $((5 + RANDOM % 200))
    later "$((1 + RANDOM % 3)).$((RANDOM % 10))" order "executor$i" heal
    until_thawed 5
}
narrow_network() {
    local i
    pick
    order "executor$i" rate $((2000 + RANDOM % 20000))
    later "$((1 + RANDOM % 3)).$((RANDOM % 10))" order "executor$i" heal
    until_thawed 5
}
reset_network() {
    local i
    pick
    order "executor$i" reset
}
cut() { # SECONDS: executor $i is cut off
    stands_still "$1"
    order "executor$i" cut
    later "$1" order "executor$i" heal
}
cut_network() { # shorter than the others wait
    local i
    pick
    cut "$((RANDOM % 4)).$((2 + RANDOM % 8))"
}
cut_long() { # half the time what was held back arrives late, else the connections are found to be gone
    local i s=1$((1 + RANDOM % 3))
    pick
    cut "$s.3"
    [ $((RANDOM % 2)) = 0 ] || later "$s.2" order "executor$i" reset
}
cut_publisher() {
    order publish cut
    later "$((RANDOM % 3)).$((2 + RANDOM % 8))" order publish heal
    until_thawed 4
}
slow_kafka() {
    order kafka slow $((5 + RANDOM % 200))
    later "$((1 + RANDOM % 3)).$((RANDOM % 10))" order kafka heal
    until_thawed 5
}
reset_kafka() { order kafka reset; }
cut_kafka() {
    order kafka cut
    later "$((RANDOM % 4)).$((2 + RANDOM % 8))" order kafka heal
    until_thawed 5
}

# Neighbours: sessions of others in the same database.
neighbour() { # SQL
    "$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$db" -c "$1" >/dev/null 2>>"$tmp/neighbours.log" </dev/null &
    neighbours+=($!)
}
neighbours=()
notify_flood() { # words of ours, and others
    neighbour "DO \$\$BEGIN
        FOR n IN 1..3000 LOOP
            PERFORM pg_notify('lockstep_' || 1 + n % 3, (ARRAY['work', 'slot', 'wanted', 'opened', 'run', 'control',
                                                               'cancel', 'relay', 'relay_again', 'nonsense', ''])[1
                                                                   + n % 11]);
            IF n % 15 = 0 THEN COMMIT; END IF;
        END LOOP;
    END\$\$"
}
foreign_locks() { # those of phases that are to come, for a while
    neighbour "SELECT pg_advisory_lock(1280507905, ((SELECT max(phase_id) FROM lockstep.phase) + n)::int * 2)
        FROM generate_series(1, 3) AS n;
        SELECT pg_sleep($((RANDOM % 3)).5)"
}
open_transaction() { # its snapshot keeps dead rows; and the locks that any reader can take
    neighbour "BEGIN ISOLATION LEVEL REPEATABLE READ;
        LOCK TABLE lockstep.queue, lockstep.run, lockstep.phase, lockstep.task,
            lockstep.rejected_message IN ACCESS SHARE MODE;
        SELECT count(*) FROM lockstep.task; SELECT pg_sleep($((2 + RANDOM % 8))); COMMIT"
}
prepared_transaction() { # which no session ends for a while
    neighbour "BEGIN;
        SELECT count(*) FROM lockstep.task;
        INSERT INTO ledger_of_others VALUES (1);
        PREPARE TRANSACTION 'torture $RANDOM$RANDOM'"
}
delete_queue() { # once: one that has no work
    lockstep queue delete "$q4" --yes -q >/dev/null 2>>"$tmp/neighbours.log"
}
prepared_end() {
    sql "SELECT format('ROLLBACK PREPARED %L', gid) FROM pg_prepared_xacts
        WHERE database = current_database() AND prepared < now() - interval '$1'" 2>/dev/null | sql >/dev/null 2>&1
}
neighbours_end() {
    if [ ${#neighbours[@]} -gt 0 ]; then # without a name all children are waited for, the proxy too
        jobs_tell TERM "${neighbours[@]}"
        wait "${neighbours[@]}" 2>/dev/null || true
    fi
    prepared_end '0 s' || true
}

# Servers.
postgres_start() {
    as_owner "$LOCKSTEP_TEST_PGBIN/pg_ctl" -D "$data" -w -t 30 -l "$LOCKSTEP_TEST_HOME/postgres.log" \
        start >/dev/null </dev/null || bad 'PostgreSQL does not start again'
    sed -i "s/^LOCKSTEP_TEST_PG_PID=.*/LOCKSTEP_TEST_PG_PID=$(head -n 1 "$data/postmaster.pid")/" "$servers/env"
}
crash_postgres() {
    as_owner "$LOCKSTEP_TEST_PGBIN/pg_ctl" -D "$data" -m immediate -w stop >/dev/null
    sleep "$((RANDOM % 3)).$((RANDOM % 10))"
    postgres_start
}
freeze_postgres() { # all of it is frozen: that is no fault of an executor's
    local p
    p=$(pgrep -P "$(head -n 1 "$data/postmaster.pid")")
    # shellcheck disable=SC2086
    kill -STOP $p 2>/dev/null
    sleep "$((RANDOM % 2)).$((RANDOM % 10))"
    # shellcheck disable=SC2086
    kill -CONT $p 2>/dev/null
}
broker_pid() { sed -n 's/^LOCKSTEP_TEST_KAFKA_PID=//p' "$servers/env"; }
freeze_broker() {
    local p
    p=$(broker_pid)
    kill -STOP "$p"
    later "$((1 + RANDOM % 2)).$((RANDOM % 10))" kill -CONT "$p"
}
broker_start() { # the same broker again, over the same data
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
faults=(kill_executor 4 kill_dispatcher 2 make_zombie 3 freeze_executor 3 term_executor 2 set_clock 3
    terminate_control 2 terminate_gate 2 terminate_liveness 2 terminate_reader 3 terminate_producer 1
    cancel_control 2 cancel_gate 1 cancel_liveness 1 cancel_reader 2 lose_reader 2
    slow_network 2 narrow_network 1 reset_network 2 cut_network 2 cut_publisher 1 slow_kafka 1 reset_kafka 1 cut_kafka 1
    notify_flood 2 foreign_locks 1 open_transaction 2 prepared_transaction 1 delete_queue 1
    kill_backend 1 crash_postgres 1 freeze_postgres 1 freeze_broker 1 kill_broker 1)
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
# Until the next fault is due, and two of three times until some tasks are through since the last one, but not for ever:
# else every fault meets what the last one did to an idle system.
breathe() { # DUE, in milliseconds
    local goal until
    goal=$((seen + 15))
    while [ "$(now_ms)" -lt "$1" ]; do
        executors_look
        sleep "0.$((RANDOM % 3))"
    done
    until=$(($(now_ms) + (RANDOM % 3 != 0 ? 1200 : 0)))
    while seen=$(completed) && [ "$seen" -lt $goal ] && [ "$(now_ms)" -lt $until ]; do
        executors_look
        sleep 0.1
    done
}
now_ms() { date +%s%3N; }

# nemesis SECONDS RATE: RATE faults a minute. Ends early when a violation is found and that is all that is wanted.
nemesis() {
    local from due seen=0 fault rate=$2 n=0
    from=$(now_ms)
    [ "$1" -lt 60 ] || faults+=(freeze_long 1 cut_long 1)
    [ -z "$only" ] || read -ra faults <<<"$only"
    while due=$((from + n * 60000 / rate)) && [ $((due - from)) -lt $(($1 * 1000)) ] &&
        [ "$(now_ms)" -lt $((from + $1 * 1000)) ]; do
        breathe $due
        ! found_first || break
        executors_look
        deal
        n=$((n + 1))
        counts[$fault]=$((${counts[$fault]:-0} + 1))
        echo "$(date +%T.%3N) $fault" >>"$tmp/nemesis.log"
        "$fault" || true
        prepared_end '4 s' || true
    done
}
